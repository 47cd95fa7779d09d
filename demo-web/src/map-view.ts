/** The features on a plane: rows of the last stream, an ellipse a cluster, and what the model draws at any place. */
import { canvas, colour, element, fitted } from './dom';
import { colourOf, drawMark } from './marks';
import { drawAlone } from './picture';
import { covarianceOnto, onto, outOf, planeOf, type Plane } from './plane';
import type { Learner } from './learner';

const DEVIATIONS = 2;

export class MapView {
  private readonly map = canvas('map');
  private readonly image = canvas('map-image');
  private readonly note = element('map-note', HTMLParagraphElement);
  private plane: Plane | null = null;
  private points: { at: [number, number]; id: number }[] = [];
  private rows: Float32Array | null = null;
  private view = { x: 0, y: 0, scale: 1 };
  private cursor: { x: number; y: number } | null = null;
  private asked = 0;
  private shown = 0;

  constructor(private readonly learner: Learner) {
    learner.onChange(() => this.update().catch(() => {})); // a model that another has replaced does not answer
    new ResizeObserver(() => this.draw()).observe(this.map);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    const point = (event: PointerEvent): void => {
      const box = this.map.getBoundingClientRect();
      this.look(event.clientX - box.left, event.clientY - box.top).catch(() => {});
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
      this.look(from.x + move[0]!, from.y + move[1]!).catch(() => {});
    });
  }

  /** The rows to show from the model's next change on; the page has them, the model does not keep them. */
  watch(rows: Float32Array): void {
    this.rows = rows;
  }

  clear(): void {
    this.rows = null;
    this.plane = null;
    this.points = [];
    this.draw();
  }

  private async update(): Promise<void> {
    const { state } = this.learner;
    const turn = ++this.shown;
    if (!state || state.clusters.length === 0) return this.clear();
    const { latent, inputs } = state.info;
    const rows = this.rows && this.rows.length % inputs === 0 ? this.rows : new Float32Array();
    const [features, scores] = rows.length ? await Promise.all([this.learner.encode(rows), this.learner.score(rows)]) : [new Float32Array(), null];
    if (turn !== this.shown) return;
    // Means count, too, so that clusters that the last stream did not touch have their place.
    const means = state.clusters.flatMap(({ moments }) => [...moments.mean]);
    const repeated = Array.from({ length: 8 }, () => means).flat();
    const all = new Float32Array(features.length + repeated.length);
    all.set(features);
    all.set(repeated, features.length);
    const plane = planeOf(all, latent, this.plane);
    this.plane = plane;
    this.points = Array.from({ length: features.length / latent }, (_, i) => ({
      at: onto(plane, features.subarray(i * latent, (i + 1) * latent)),
      id: scores!.id[i]!,
    }));
    this.note.textContent =
      `The two directions of ${latent} in which the features spread most (principal components); they hold ${Math.round(100 * plane.held)} % of the spread. ` +
      'Points: the last rows. Ellipses: two deviations of each cluster. Point anywhere to see what the model draws there.';
    this.draw();
  }

  private draw(): void {
    const { context, width, height } = fitted(this.map);
    const { plane } = this;
    if (!plane || width === 0) {
      context.fillStyle = colour('quiet');
      context.font = '14px system-ui, sans-serif';
      context.textAlign = 'center';
      context.fillText('Nothing is learnt yet.', width / 2, height / 2);
      return;
    }
    const ellipses = (this.learner.state?.clusters ?? [])
      .filter(({ moments }) => moments.mean.length === plane.middle.length)
      .map(({ id, name, moments }) => {
        const [xx, xy, yy] = covarianceOnto(plane, moments.covariance);
        const spread = Math.hypot((xx - yy) / 2, xy);
        const radii = [Math.sqrt((xx + yy) / 2 + spread), Math.sqrt(Math.max(0, (xx + yy) / 2 - spread))] as const;
        return { id, name, at: onto(plane, moments.mean), radii, angle: 0.5 * Math.atan2(2 * xy, xx - yy) };
      });
    const xs = [...this.points.map(({ at }) => at[0]), ...ellipses.flatMap(({ at, radii }) => [at[0] - 2 * radii[0], at[0] + 2 * radii[0]])];
    const ys = [...this.points.map(({ at }) => at[1]), ...ellipses.flatMap(({ at, radii }) => [at[1] - 2 * radii[0], at[1] + 2 * radii[0]])];
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = 0.94 * Math.min(width / (right - left || 1), height / (high - low || 1));
    this.view = { x: width / 2 - (scale * (left + right)) / 2, y: height / 2 - (scale * (low + high)) / 2, scale };
    const place = ([a, b]: [number, number]): [number, number] => [this.view.x + scale * a, this.view.y + scale * b];
    context.globalAlpha = 0.7;
    context.lineWidth = 1.5;
    for (const { at, id } of this.points) drawMark(context, id, ...place(at), 2.4);
    context.globalAlpha = 1;
    for (const { id, name, at, radii, angle } of ellipses) {
      const [x, y] = place(at);
      context.strokeStyle = colourOf(id);
      context.lineWidth = 2;
      context.beginPath();
      context.ellipse(x, y, DEVIATIONS * scale * radii[0], DEVIATIONS * scale * radii[1], angle, 0, 2 * Math.PI);
      context.stroke();
      context.font = '600 13px system-ui, sans-serif';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.lineWidth = 4;
      context.strokeStyle = colour('card');
      context.strokeText(name || String(id), x, y);
      context.fillStyle = colour('text');
      context.fillText(name || String(id), x, y);
    }
    if (this.cursor) {
      context.strokeStyle = colour('text');
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(this.cursor.x - 8, this.cursor.y);
      context.lineTo(this.cursor.x + 8, this.cursor.y);
      context.moveTo(this.cursor.x, this.cursor.y - 8);
      context.lineTo(this.cursor.x, this.cursor.y + 8);
      context.stroke();
    }
  }

  private leave(): void {
    ++this.asked;
    this.cursor = null;
    this.image.hidden = true;
    this.draw();
  }

  private async look(x: number, y: number): Promise<void> {
    const { plane } = this;
    if (!plane) return;
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    this.cursor = { x: Math.max(0, Math.min(width, x)), y: Math.max(0, Math.min(height, y)) };
    this.draw();
    const question = ++this.asked;
    await new Promise(requestAnimationFrame); // a pointer may move many times within a frame
    if (question !== this.asked) return;
    const row = await this.learner.decode(outOf(plane, (this.cursor.x - this.view.x) / this.view.scale, (this.cursor.y - this.view.y) / this.view.scale));
    if (question !== this.asked || !this.cursor) return;
    drawAlone(this.image, row);
    this.image.hidden = false;
    this.image.style.left = `${this.cursor.x > width / 2 ? this.cursor.x - 98 : this.cursor.x + 14}px`;
    this.image.style.top = `${Math.max(0, Math.min(height - 84, this.cursor.y - 42))}px`;
  }
}
