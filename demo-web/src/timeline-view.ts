/** A lane a cluster, from the stream of its birth to now or to its end; a mark tells its reason and shows before and after. */
import { announce, drawn, element, grouped, made } from './dom';
import { CHANGES, concerned, reasonOf, titleOf, told } from './event-words';
import { laneOf, lanesOf, stepOf, ticksOf, type Lane } from './lanes';
import { colourOf, markElement } from './marks';
import { Past, type Picture } from './past';
import { drawAlone } from './picture';
import { TableView, type Table } from './table-view';
import type { ModelEvent, Learner } from './learner';

const LANE = 28;
const LEFT = 40;
const MOST_MARKS = 400;
const MOST_LINES = 500; // of the table
const SIGN: Record<string, string> = { born: '●', merged: '⤴', retired: '×', forgotten: '×', split: '⑂' };

export class TimelineView {
  private readonly box = element('timeline', HTMLDivElement);
  private readonly hint = element('event-hint', HTMLParagraphElement);
  private readonly panel = element('event-panel', HTMLDivElement);
  private readonly past: Past;
  private readonly table: TableView;
  /** In the order of time. */
  private marks: { event: ModelEvent; mark: HTMLButtonElement }[] = [];
  /** Number of the event whose mark the tab key reaches, and of that whose panel is open. */
  private current = 0;
  private open = 0;

  constructor(private readonly learner: Learner) {
    this.past = new Past(learner);
    this.table = new TableView(this.box.parentElement!.querySelector('.head')!, this.panel, () => this.rows());
    learner.onChange(() => this.update());
    new ResizeObserver(() => this.update()).observe(this.box);
    this.box.addEventListener('keydown', (event) => this.key(event));
    this.panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
    this.update();
  }

  private events(): ModelEvent[] {
    return (this.learner.state?.events ?? []).filter(({ type }) => CHANGES.has(type));
  }

  private rows(): Table {
    return {
      caption: 'What happened to the clusters',
      heads: ['stream', 'what', 'why'],
      rows: this.events().slice(-MOST_LINES).map((event) => [event.stream, titleOf(event), reasonOf(event)]),
    };
  }

  private update(): void {
    const { state } = this.learner;
    const lanes = state ? lanesOf(state) : new Map<number, Lane>();
    const focused = this.marks.find(({ mark }) => mark === document.activeElement)?.event.sequence;
    this.marks = [];
    this.table.changed();
    this.hint.hidden = lanes.size === 0;
    if (!state || lanes.size === 0) {
      this.box.replaceChildren(made('p', { className: 'small' }, 'No cluster yet.'));
      this.close();
      return;
    }
    const streams = Math.max(1, state.info.streams);
    const row = new Map([...lanes.keys()].map((id, at) => [id, at]));
    const step = stepOf(streams, this.box.clientWidth - LEFT - 24);
    const x = (stream: number): number => LEFT + (Math.max(1, Math.min(streams, stream)) - 0.5) * step;
    const y = (id: number): number => 14 + (row.get(id) ?? 0) * LANE;
    const [width, height] = [LEFT + streams * step + 24, lanes.size * LANE + 24];
    const picture = drawn('svg', { width, height, 'aria-hidden': 'true' });
    for (const s of ticksOf(streams, step)) picture.append(drawn('text', { x: x(s), y: height - 4, 'text-anchor': 'middle' }, grouped(s)));
    const line = (id: number, from: [number, number], to: [number, number], look: Record<string, string | number>): void =>
      picture.append(drawn('line', { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: colourOf(id), ...look }));
    for (const { id, from, to, into } of lanes.values()) {
      const end = to === null ? width - 12 : x(to);
      line(id, [x(from), y(id)], [end, y(id)], { 'stroke-width': 3, 'stroke-linecap': 'round' });
      if (into && row.has(into)) line(id, [end, y(id)], [end, y(into)], { 'stroke-dasharray': '3 3' });
      const parent = this.learner.find(id)?.parent ?? 0;
      if (row.has(parent)) line(id, [x(from), y(parent)], [x(from), y(id)], { 'stroke-dasharray': '2 4' });
    }
    const holder = made('div', { className: 'lanes' }, picture);
    holder.style.width = `${width}px`;
    holder.style.height = `${height}px`;
    for (const id of lanes.keys()) {
      const label = made('span', { className: 'lane-id' }, markElement(id), ` ${id}`);
      label.style.top = `${y(id) - 10}px`;
      holder.append(label);
    }
    const drawnEvents = this.events().filter((event) => row.has(laneOf(event))).slice(-MOST_MARKS);
    for (const event of drawnEvents) {
      const at = laneOf(event);
      const mark = document.createElement('button');
      mark.type = 'button';
      mark.className = 'event';
      mark.style.left = `${x(event.stream) - 12}px`;
      mark.style.top = `${y(at) - 12}px`;
      mark.style.color = colourOf(at);
      mark.textContent = SIGN[event.type] ?? '●';
      mark.setAttribute('aria-label', `Stream ${event.stream}: ${told(event)}`);
      mark.setAttribute('aria-controls', this.panel.id);
      mark.title = told(event);
      mark.onclick = () => this.show(event);
      holder.append(mark);
      this.marks.push({ event, mark });
    }
    this.box.replaceChildren(holder);
    if (!this.marks.some(({ event }) => event.sequence === this.current)) this.current = this.marks.at(-1)?.event.sequence ?? 0;
    if (!this.marks.some(({ event }) => event.sequence === this.open)) this.close();
    this.rove();
    this.marks.find(({ event }) => event.sequence === focused)?.mark.focus({ preventScroll: true });
    if (!this.open) this.box.scrollLeft = this.box.scrollWidth;
  }

  /** One mark alone is reached by the tab key; arrows go from there. */
  private rove(): void {
    for (const { event, mark } of this.marks) {
      mark.tabIndex = event.sequence === this.current ? 0 : -1;
      mark.classList.toggle('open', event.sequence === this.open);
      mark.setAttribute('aria-expanded', String(event.sequence === this.open));
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape') return this.close();
    const at = this.marks.findIndex(({ mark }) => mark === event.target);
    const next = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: this.marks.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const target = this.marks[Math.max(0, Math.min(this.marks.length - 1, next))]!;
    this.current = target.event.sequence;
    if (this.open) this.show(target.event); // an open panel follows
    this.rove();
    target.mark.focus();
  }

  private close(): void {
    if (!this.open) return;
    const inside = this.panel.contains(document.activeElement);
    this.open = 0;
    this.panel.hidden = true;
    this.rove();
    if (inside) this.marks.find(({ event }) => event.sequence === this.current)?.mark.focus();
  }

  private show(event: ModelEvent): void {
    this.open = this.current = event.sequence;
    this.rove();
    const { before, after } = this.past.around(event.sequence);
    const close = made('button', { type: 'button', className: 'close', ariaLabel: 'Close', onclick: () => this.close() }, '×');
    const head = made('div', { className: 'head' }, made('h3', {}, `Stream ${event.stream}: ${titleOf(event)}`), close);
    const why = document.createElement('p');
    why.className = 'small';
    why.textContent = reasonOf(event);
    const sides = document.createElement('div');
    sides.className = 'sides';
    sides.append(this.side('Before', event, before), this.side('After', event, after));
    this.panel.replaceChildren(head, why, sides);
    this.panel.hidden = false;
    announce(told(event));
  }

  private side(title: string, event: ModelEvent, pictures: Map<number, Picture> | null): HTMLElement {
    const side = document.createElement('div');
    const head = document.createElement('h4');
    head.textContent = title;
    side.append(head);
    const shown = concerned(event).filter((id) => pictures?.has(id));
    if (shown.length === 0) {
      const none = document.createElement('p');
      none.className = 'small';
      none.textContent = pictures ? (title === 'Before' ? 'It was not there.' : 'It is not there any more.') : 'The page has no picture of that time.';
      side.append(none);
    }
    const list = document.createElement('div');
    list.className = 'pictures';
    for (const id of shown) {
      const { row, rows, name } = pictures!.get(id)!;
      const figure = document.createElement('figure');
      const image = document.createElement('canvas');
      image.width = image.height = 84;
      image.setAttribute('role', 'img');
      image.setAttribute('aria-label', `Cluster ${id}, drawn from memory`);
      drawAlone(image, row);
      const caption = made('figcaption', {}, markElement(id), ` ${name || id}: ${grouped(rows)} rows`);
      figure.append(image, caption);
      list.append(figure);
    }
    side.append(list);
    return side;
  }
}
