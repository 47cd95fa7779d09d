/** Rows of two numbers need no map of features: the plane itself, how novel each place of it is, and the clusters in it. */
import type { Scores } from 'adapvae';
import { canvas, colour, element, fitted } from './dom';
import { colourOf, drawMark } from './marks';
import type { Stream } from './scenario';
import type { Learner } from './learner';

const DEVIATIONS = 2;
const CORNERS = 48; // of an outline
const CELL = 8; // pixels between places at which novelty is asked
const MARGIN = 0.12;

interface Outline {
  id: number;
  name: string;
  /** x, y, x, y, …; the middle first. */
  points: Float32Array;
}

export class InputMapView {
  private readonly map = canvas('input-map');
  private readonly answer = element('input-map-answer', HTMLParagraphElement);
  private rows = new Float32Array();
  private scores: Scores | null = null;
  private shown = 0;
  private range = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  private outlines: Outline[] = [];
  private field: HTMLCanvasElement | null = null;
  private turn = 0;
  private drawn = 0;
  private asked = 0;
  private cursor: { x: number; y: number } | null = null;

  constructor(private readonly learner: Learner) {
    learner.onChange(() => void this.update().catch(() => {})); // a model that another has replaced does not answer
    new ResizeObserver(() => void this.update().catch(() => {})).observe(this.map);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => void this.update().catch(() => {}));
    const point = (event: PointerEvent): void => {
      const box = this.map.getBoundingClientRect();
      void this.look(event.clientX - box.left, event.clientY - box.top).catch(() => {});
    };
    this.map.addEventListener('pointermove', point);
    this.map.addEventListener('pointerdown', point);
    this.map.addEventListener('pointerleave', () => this.leave());
    this.map.addEventListener('blur', () => this.leave());
    this.map.addEventListener('keydown', (event) => {
      const move = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[event.key];
      if (!move) return;
      event.preventDefault();
      const from = this.cursor ?? { x: this.map.clientWidth / 2, y: this.map.clientHeight / 2 };
      void this.look(from.x + move[0]!, from.y + move[1]!).catch(() => {});
    });
  }

  private get usable(): boolean {
    return this.learner.inputs === 2;
  }

  clear(): void {
    ++this.turn;
    this.rows = new Float32Array();
    this.scores = this.field = null;
    this.outlines = [];
    this.shown = 0;
    this.range = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
    this.leave();
  }

  began(stream: Stream, scores: Scores): void {
    if (!this.usable) return;
    [this.rows, this.scores, this.shown] = [stream.rows, scores, 0];
    const wider = { ...this.range };
    for (let i = 0; i < stream.rows.length; i += 2) {
      wider.left = Math.min(wider.left, stream.rows[i]!);
      wider.right = Math.max(wider.right, stream.rows[i]!);
      wider.low = Math.min(wider.low, stream.rows[i + 1]!);
      wider.high = Math.max(wider.high, stream.rows[i + 1]!);
    }
    this.range = wider;
    void this.update().catch(() => {});
  }

  came(count: number): void {
    this.shown = count;
    this.draw();
  }

  /** Now every row belongs to the cluster that it has come to. */
  async learnt(): Promise<void> {
    const { rows } = this;
    if (!this.usable || rows.length === 0) return;
    const scores = await this.learner.score(rows);
    if (rows !== this.rows) return;
    this.scores = scores;
    this.draw();
  }

  /** From the plane to the canvas: x · scaleX + x0 and so on; y goes up. */
  private view(): { x: number; y: number; scaleX: number; scaleY: number } {
    const { left, right, low, high } = this.range;
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    // One scale for both if the ranges are alike, as they are for places; else each its own.
    const [spanX, spanY] = [(right - left || 1) * (1 + 2 * MARGIN), (high - low || 1) * (1 + 2 * MARGIN)];
    let [scaleX, scaleY] = [width / spanX, height / spanY];
    if (Math.max(spanX / spanY, spanY / spanX) < 4) scaleX = scaleY = Math.min(scaleX, scaleY);
    return { x: width / 2 - (scaleX * (left + right)) / 2, y: height / 2 + (scaleY * (low + high)) / 2, scaleX, scaleY };
  }

  private async update(): Promise<void> {
    const turn = ++this.turn;
    const { usable } = this;
    this.map.hidden = element('input-map-note', HTMLParagraphElement).hidden = !usable;
    canvas('map').hidden = element('map-note', HTMLParagraphElement).hidden = usable;
    element('map-title', HTMLHeadingElement).textContent = usable ? 'The plane, as the model sees it' : 'Map of its features';
    if (!usable) return void (this.answer.textContent = '');
    const { clusters, info } = this.learner.state!;
    if (!clusters.length || !Number.isFinite(this.range.left)) return this.draw();
    const features = clusters.map(({ moments: { mean, covariance } }) => {
      const points = new Float32Array((CORNERS + 1) * info.latent);
      for (let p = 0; p <= CORNERS; ++p) points.set(mean, p * info.latent);
      if (info.latent !== 2) return points;
      // Times the root of the covariance.
      const a = Math.sqrt(covariance[0]!);
      const b = covariance[1]! / a;
      const c = Math.sqrt(Math.max(0, covariance[3]! - b * b));
      for (let p = 1; p <= CORNERS; ++p) {
        const [x, y] = [DEVIATIONS * Math.cos((2 * Math.PI * p) / CORNERS), DEVIATIONS * Math.sin((2 * Math.PI * p) / CORNERS)];
        points[2 * p]! += a * x;
        points[2 * p + 1]! += b * x + c * y;
      }
      return points;
    });
    const { x, y, scaleX, scaleY } = this.view();
    const [across, down] = [Math.ceil(this.map.clientWidth / CELL), Math.ceil(this.map.clientHeight / CELL)];
    const grid = new Float32Array(across * down * 2);
    for (let i = 0; i < across * down; ++i) {
      grid[2 * i] = (((i % across) + 0.5) * CELL - x) / scaleX;
      grid[2 * i + 1] = (y - (Math.floor(i / across) + 0.5) * CELL) / scaleY;
    }
    const [places, { novelty }] = await Promise.all([Promise.all(features.map((points) => this.learner.decode(points))), this.learner.score(grid)]);
    if (turn !== this.turn) return;
    this.outlines = clusters.map(({ id, name }, i) => ({ id, name, points: places[i]! }));
    this.field = document.createElement('canvas');
    [this.field.width, this.field.height] = [across, down];
    const context = this.field.getContext('2d')!;
    context.fillStyle = colour('novel');
    novelty.forEach((value, i) => {
      context.globalAlpha = 0.26 * Math.max(0, Math.min(1, (value - 0.4) / 0.2));
      context.fillRect(i % across, Math.floor(i / across), 1, 1);
    });
    this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => this.drawNow());
  }

  private drawNow(): void {
    if (!this.usable || this.map.clientWidth === 0) return;
    const { context } = fitted(this.map);
    const { x, y, scaleX, scaleY } = this.view();
    const place = (a: number, b: number): [number, number] => [x + scaleX * a, y - scaleY * b];
    if (this.field) {
      context.imageSmoothingEnabled = true;
      context.drawImage(this.field, 0, 0, this.field.width * CELL, this.field.height * CELL);
    }
    context.lineWidth = 1.5;
    const [novel, text, card] = [colour('novel'), colour('text'), colour('card')];
    for (let i = 0; i < this.shown; ++i) {
      const [px, py] = place(this.rows[2 * i]!, this.rows[2 * i + 1]!);
      const id = this.scores?.id[i] ?? 0;
      if (id && this.scores!.novelty[i]! <= 0.5) drawMark(context, id, px, py, 2.6);
      else {
        context.strokeStyle = novel;
        context.beginPath();
        context.moveTo(px - 3, py - 3);
        context.lineTo(px + 3, py + 3);
        context.moveTo(px + 3, py - 3);
        context.lineTo(px - 3, py + 3);
        context.stroke();
      }
    }
    for (const { id, name, points } of this.outlines) {
      context.strokeStyle = colourOf(id);
      context.lineWidth = 2;
      context.beginPath();
      for (let p = 1; p <= CORNERS; ++p) context.lineTo(...place(points[2 * p]!, points[2 * p + 1]!));
      context.closePath();
      context.stroke();
      const [px, py] = place(points[0]!, points[1]!);
      context.font = '600 13px system-ui, sans-serif';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.lineWidth = 4;
      context.strokeStyle = card;
      context.strokeText(name || String(id), px, py);
      context.fillStyle = text;
      context.fillText(name || String(id), px, py);
    }
    if (this.cursor) {
      context.fillStyle = text;
      context.fillRect(this.cursor.x - 8, this.cursor.y, 17, 1);
      context.fillRect(this.cursor.x, this.cursor.y - 8, 1, 17);
    }
  }

  private leave(): void {
    ++this.asked;
    this.cursor = null;
    this.answer.textContent = '';
    this.draw();
  }

  private async look(atX: number, atY: number): Promise<void> {
    if (!Number.isFinite(this.range.left)) return;
    this.cursor = { x: Math.max(0, Math.min(this.map.clientWidth, atX)), y: Math.max(0, Math.min(this.map.clientHeight, atY)) };
    this.draw();
    const question = ++this.asked;
    await new Promise(requestAnimationFrame); // a pointer may move many times within a frame
    if (question !== this.asked || !this.cursor) return;
    const { x, y, scaleX, scaleY } = this.view();
    const row = Float32Array.of((this.cursor.x - x) / scaleX, (y - this.cursor.y) / scaleY);
    const { id, novelty } = await this.learner.score(row);
    if (question !== this.asked) return;
    const known = id[0] ? `; nearest: ${this.learner.title(id[0])}` : '; nothing is learnt yet';
    this.answer.textContent = `At ${row[0]!.toPrecision(3)}, ${row[1]!.toPrecision(3)}: novelty ${novelty[0]!.toFixed(2)}${known}.`;
  }
}
