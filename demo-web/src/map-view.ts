/** The features on a plane: rows of the last stream, an ellipse a cluster, and what the model draws at any place. */
import { canvas, colour, element, fitted } from './dom';
import { moveApart } from './labels';
import { colourOf, drawMark } from './marks';
import { drawAlone } from './picture';
import { covarianceOnto, onto, outOf, planeApart, planeOfSpread, type Plane } from './plane';
import { TableView, type Table } from './table-view';
import type { Known, Learner } from './learner';

const DEVIATIONS = 2;
const KEY_STEP = 12; // pixels
const PICTURE = 84;

interface Ellipse {
  id: number;
  name: string;
  at: [number, number];
  radii: readonly [number, number];
  angle: number;
  /** One deviation along each axis of the map. */
  deviation: readonly [number, number];
}

export class MapView {
  private readonly map = canvas('map');
  private readonly image = canvas('map-image');
  private readonly note = element('map-note', HTMLParagraphElement);
  private readonly kind = element('map-plane', HTMLSelectElement);
  private readonly table: TableView;
  private plane: Plane | null = null;
  /** The last plane of each kind, so that maps follow each other without turning over. */
  private readonly planes = new Map<string, Plane>();
  private points: { at: [number, number]; id: number }[] = [];
  private ellipses: Ellipse[] = [];
  private rows: Float32Array | null = null;
  private width = 0; // of a row of them
  private features: Float32Array = new Float32Array();
  private ids: ArrayLike<number> = [];
  private view = { x: 0, y: 0, scale: 1 };
  private cursor: { x: number; y: number } | null = null;
  /** Features of the place whose picture stays. */
  private pin: Float32Array | null = null;
  /** The cluster that is looked at: of the card under the pointer or in focus, or of the place on the map. */
  private card = 0;
  private under = 0;
  private asked = 0;
  private shown = 0;

  constructor(private readonly learner: Learner) {
    learner.onChange(() => this.update().catch(() => {})); // a model that another has replaced does not answer
    new ResizeObserver(() => this.draw()).observe(this.map);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.table = new TableView(this.map.closest('.card')!.querySelector('.head')!, this.map.parentElement!, () => this.cells());
    this.kind.onchange = () => this.project();
    const place = (event: PointerEvent): [number, number] => {
      const box = this.map.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.map.addEventListener('pointermove', (event) => void this.look(...place(event)).catch(() => {}));
    this.map.addEventListener('pointerdown', (event) => {
      void this.look(...place(event)).catch(() => {});
      this.pinHere();
    });
    this.map.addEventListener('pointerleave', () => this.leave());
    this.map.addEventListener('blur', () => this.leave());
    this.map.addEventListener('keydown', (event) => this.key(event));
    const cards = element('prototypes', HTMLUListElement);
    const light = (event: Event): void => this.lightCard(Number((event.target as Element).closest<HTMLElement>('li')?.dataset['id'] ?? 0));
    for (const name of ['pointerover', 'focusin']) cards.addEventListener(name, light);
    for (const name of ['pointerleave', 'focusout']) cards.addEventListener(name, () => this.lightCard(0));
  }

  /** The rows to show from the model's next change on; the page has them, the model does not keep them. */
  watch(rows: Float32Array): void {
    [this.rows, this.width] = [rows, this.learner.inputs];
  }

  clear(): void {
    this.rows = this.pin = this.plane = null;
    this.planes.clear();
    this.points = [];
    this.ellipses = [];
    this.note.textContent = '';
    this.image.hidden = true;
    this.table.changed();
    this.draw();
  }

  private get clusters(): Known[] {
    return this.learner.state?.clusters ?? [];
  }

  private async update(): Promise<void> {
    const { state } = this.learner;
    const turn = ++this.shown;
    if (!state || state.clusters.length === 0) return this.clear();
    const rows = this.rows && this.width === state.info.inputs ? this.rows : new Float32Array();
    const [features, scores] = rows.length ? await Promise.all([this.learner.encode(rows), this.learner.score(rows)]) : [new Float32Array(), null];
    if (turn !== this.shown) return;
    this.features = features;
    this.ids = scores?.id ?? [];
    this.project();
  }

  private project(): void {
    const { state } = this.learner;
    if (!state || state.clusters.length === 0) return;
    const { latent } = state.info;
    const apart = this.kind.value === 'apart' && state.clusters.length > 1;
    const last = this.planes.get(this.kind.value) ?? null;
    const plane = apart ? planeApart(state.clusters, latent, last) : this.spread(latent, last);
    this.planes.set(this.kind.value, plane);
    this.plane = plane;
    this.points = Array.from({ length: this.features.length / latent }, (_, i) => ({
      at: onto(plane, this.features.subarray(i * latent, (i + 1) * latent)),
      id: this.ids[i]!,
    }));
    this.ellipses = state.clusters.map(({ id, name, moments }) => {
      const [xx, xy, yy] = covarianceOnto(plane, moments.covariance);
      const spread = Math.hypot((xx - yy) / 2, xy);
      const radii = [Math.sqrt((xx + yy) / 2 + spread), Math.sqrt(Math.max(0, (xx + yy) / 2 - spread))] as const;
      return { id, name, at: onto(plane, moments.mean), radii, angle: 0.5 * Math.atan2(2 * xy, xx - yy), deviation: [Math.sqrt(xx), Math.sqrt(yy)] };
    });
    const held = Math.round(100 * plane.held);
    this.note.textContent =
      (apart
        ? `The two directions of ${latent} in which clusters stand most apart for their width (linear discriminant); they hold ${held} % of what parts them. `
        : `The two directions of ${latent} in which the features spread most (principal components); they hold ${held} % of the spread. `) +
      'Points: the last rows. Ellipses: two deviations of each cluster. Point anywhere to see what the model draws there; a click keeps it.';
    this.table.changed();
    this.draw();
    void this.drawPin().catch(() => {});
  }

  private spread(latent: number, last: Plane | null): Plane {
    // Means count, too, so that clusters that the last stream did not touch have their place.
    const means = this.clusters.flatMap(({ moments }) => [...moments.mean]);
    const repeated = Array.from({ length: 8 }, () => means).flat();
    const all = new Float32Array(this.features.length + repeated.length);
    all.set(this.features);
    all.set(repeated, this.features.length);
    return planeOfSpread(all, latent, last);
  }

  private cells(): Table {
    const count = new Map<number, number>();
    for (const { id } of this.points) count.set(id, (count.get(id) ?? 0) + 1);
    return {
      caption: 'Clusters on the map: where their middle lies, how wide they are (one deviation, the longer and the shorter way), rows of the last stream',
      heads: ['cluster', 'across', 'down', 'longer', 'shorter', 'rows'],
      rows: this.ellipses.map(({ id, name, at, radii }) => [
        name ? `${id} (${name})` : id,
        ...[at[0], at[1], radii[0], radii[1]].map((value) => value.toFixed(2)),
        count.get(id) ?? 0,
      ]),
    };
  }

  private lightCard(id: number): void {
    if (id === this.card) return;
    this.card = id;
    this.draw();
  }

  private draw(): void {
    const { context, width, height } = fitted(this.map);
    if (!this.plane || width === 0) {
      context.fillStyle = colour('quiet');
      context.font = '14px system-ui, sans-serif';
      context.textAlign = 'center';
      context.fillText('Nothing is learnt yet.', width / 2, height / 2);
      return;
    }
    const { ellipses, points } = this;
    const bounds = (axis: 0 | 1): [number, number] => {
      const ends = ellipses.flatMap(({ at, deviation }) => [-1, 1].map((side) => at[axis] + side * DEVIATIONS * deviation[axis]));
      const all = [...points.map(({ at }) => at[axis]), ...ends];
      return [Math.min(...all), Math.max(...all)];
    };
    const [[left, right], [low, high]] = [bounds(0), bounds(1)];
    const scale = 0.94 * Math.min(width / (right - left || 1), height / (high - low || 1));
    this.view = { x: width / 2 - (scale * (left + right)) / 2, y: height / 2 - (scale * (low + high)) / 2, scale };
    const lit = this.card || this.under;
    const inFront = (a: { id: number }, b: { id: number }): number => Number(a.id === lit) - Number(b.id === lit);
    for (const ellipse of [...ellipses].sort(inFront)) this.drawEllipse(context, ellipse, lit);
    context.lineWidth = 1.5;
    for (const { at, id } of [...points].sort(inFront)) {
      context.globalAlpha = lit === 0 ? 0.6 : id === lit ? 1 : 0.15;
      drawMark(context, id, ...this.place(at), id === lit ? 3 : 2.4);
    }
    context.globalAlpha = 1;
    this.drawLabels(context, width, height, lit);
    if (this.pin) this.cross(context, ...this.place(onto(this.plane, this.pin)), 2);
    if (this.cursor) this.cross(context, this.cursor.x, this.cursor.y, 1);
  }

  private place([a, b]: [number, number]): [number, number] {
    return [this.view.x + this.view.scale * a, this.view.y + this.view.scale * b];
  }

  private drawEllipse(context: CanvasRenderingContext2D, { id, at, radii, angle }: Ellipse, lit: number): void {
    context.fillStyle = context.strokeStyle = colourOf(id);
    context.lineWidth = id === lit ? 2.5 : 1;
    context.beginPath();
    context.ellipse(...this.place(at), DEVIATIONS * this.view.scale * radii[0], DEVIATIONS * this.view.scale * radii[1], angle, 0, 2 * Math.PI);
    context.globalAlpha = id === lit ? 0.24 : 0.08;
    context.fill();
    context.globalAlpha = lit === 0 ? 0.7 : id === lit ? 1 : 0.25;
    context.stroke();
    context.globalAlpha = 1;
  }

  private drawLabels(context: CanvasRenderingContext2D, width: number, height: number, lit: number): void {
    context.font = '600 13px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const labels = this.ellipses.map(({ id, name, at }) => {
      const [x, y] = this.place(at);
      const text = name || String(id);
      return { id, text, at: [x, y] as [number, number], x, y, width: context.measureText(text).width + 10, height: 20 };
    });
    moveApart(labels, width, height);
    const [card, ink] = [colour('card'), colour('text')];
    for (const { id, text, at, x, y, width: wide, height: high } of labels) {
      context.globalAlpha = lit === 0 || id === lit ? 1 : 0.4;
      if (Math.hypot(x - at[0], y - at[1]) > 12) {
        context.strokeStyle = colourOf(id);
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(...at);
        context.lineTo(x, y);
        context.stroke();
      }
      context.fillStyle = card;
      context.strokeStyle = colourOf(id);
      context.lineWidth = 1.5;
      context.beginPath();
      context.roundRect(x - wide / 2 + 1, y - high / 2 + 1, wide - 2, high - 2, 6);
      context.fill();
      context.stroke();
      context.fillStyle = ink;
      context.fillText(text, x, y + 0.5);
    }
    context.globalAlpha = 1;
  }

  private cross(context: CanvasRenderingContext2D, x: number, y: number, line: number): void {
    context.strokeStyle = colour('text');
    context.lineWidth = line;
    context.beginPath();
    context.moveTo(x - 8, y);
    context.lineTo(x + 8, y);
    context.moveTo(x, y - 8);
    context.lineTo(x, y + 8);
    context.stroke();
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step && event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    if (event.key === 'Enter') return this.pinHere();
    if (!step) return this.unpin();
    const from = this.cursor ?? { x: this.map.clientWidth / 2, y: this.map.clientHeight / 2 };
    void this.look(from.x + KEY_STEP * step[0]!, from.y + KEY_STEP * step[1]!).catch(() => {});
  }

  private leave(): void {
    ++this.asked;
    this.cursor = null;
    this.under = 0;
    this.image.hidden = true;
    this.draw();
    void this.drawPin().catch(() => {});
  }

  /** The picture of this place stays; once more at the same place: it goes. */
  private pinHere(): void {
    const { plane, cursor } = this;
    if (!plane || !cursor) return;
    const old = this.pin && this.place(onto(plane, this.pin));
    if (old && Math.hypot(old[0] - cursor.x, old[1] - cursor.y) < 10) return this.unpin();
    this.pin = this.featuresAt(plane, cursor.x, cursor.y);
    this.image.dataset['pinned'] = '';
    this.draw();
  }

  private unpin(): void {
    this.pin = null;
    delete this.image.dataset['pinned'];
    if (!this.cursor) this.image.hidden = true;
    this.draw();
  }

  private featuresAt(plane: Plane, x: number, y: number): Float32Array {
    return outOf(plane, (x - this.view.x) / this.view.scale, (y - this.view.y) / this.view.scale);
  }

  /** The cluster in whose ellipse a place lies, the nearest if there are several; 0: in none. */
  private clusterAt(x: number, y: number): number {
    let [found, nearest] = [0, DEVIATIONS];
    for (const { id, at, radii, angle } of this.ellipses) {
      const [cx, cy] = this.place(at);
      const [dx, dy] = [(x - cx) / this.view.scale, (y - cy) / this.view.scale];
      const along = (dx * Math.cos(angle) + dy * Math.sin(angle)) / radii[0];
      const across = (dy * Math.cos(angle) - dx * Math.sin(angle)) / (radii[1] || 1e-9);
      const distance = Math.hypot(along, across);
      if (distance < nearest) [found, nearest] = [id, distance];
    }
    return found;
  }

  private async look(x: number, y: number): Promise<void> {
    const { plane } = this;
    if (!plane) return;
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    this.cursor = { x: Math.max(0, Math.min(width, x)), y: Math.max(0, Math.min(height, y)) };
    this.under = this.clusterAt(this.cursor.x, this.cursor.y);
    this.draw();
    const question = ++this.asked;
    await new Promise(requestAnimationFrame); // a pointer may move many times within a frame
    if (question !== this.asked) return;
    const { x: cx, y: cy } = this.cursor;
    const row = await this.learner.decode(this.featuresAt(plane, cx, cy));
    if (question !== this.asked || !this.cursor) return;
    this.put(row, cx, cy);
  }

  private async drawPin(): Promise<void> {
    const { plane, pin } = this;
    if (!plane || !pin || pin.length !== plane.middle.length || this.cursor) return;
    const question = ++this.asked;
    const row = await this.learner.decode(pin);
    if (question === this.asked && this.pin === pin && !this.cursor) this.put(row, ...this.place(onto(plane, pin)));
  }

  private put(row: Float32Array, x: number, y: number): void {
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    drawAlone(this.image, row);
    this.image.hidden = false;
    this.image.style.left = `${x > width / 2 ? x - PICTURE - 14 : x + 14}px`;
    this.image.style.top = `${Math.max(0, Math.min(height - PICTURE, y - PICTURE / 2))}px`;
  }
}
