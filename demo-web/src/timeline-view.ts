/** A lane a cluster, from the stream of its birth to now or to its end; marks tell their reasons. */
import { reason } from './birth-view';
import { element } from './dom';
import { colourOf, markSvg } from './marks';
import type { ModelEvent, Learner } from './learner';

const LANE = 28;
const LEFT = 40;
const LEAST_STEP = 40;

export interface Lane {
  id: number;
  from: number;
  to: number | null;
  into: number;
}

export function lanesOf(events: ModelEvent[], learner: Learner): Map<number, Lane> {
  const lanes = new Map<number, Lane>();
  for (const { id, bornStream } of learner.state?.clusters ?? []) lanes.set(id, { id, from: bornStream, to: null, into: 0 });
  for (const { type, id, other, stream } of events) {
    if (type === 'born' && !lanes.has(id)) lanes.set(id, { id, from: stream, to: stream, into: 0 });
    // Of a merge, `id` stays and `other` ends, unless it was undone and is alive.
    if (type === 'merged' && !learner.find(other)) lanes.set(other, { id: other, from: lanes.get(other)?.from ?? stream, to: stream, into: id });
    if ((type === 'forgotten' || type === 'retired') && !learner.find(id)) {
      lanes.set(id, { id, from: lanes.get(id)?.from ?? stream, to: stream, into: 0 });
    }
  }
  return new Map([...lanes].sort(([a], [b]) => a - b));
}

export const SHOWN = new Set(['born', 'merged', 'retired', 'forgotten', 'split']);
const SIGN: Record<string, string> = { born: '●', merged: '⤴', retired: '×', forgotten: '×', split: '⑂' };

export class TimelineView {
  private readonly box = element('timeline', HTMLDivElement);
  private readonly text = element('event-text', HTMLParagraphElement);

  constructor(private readonly learner: Learner) {
    learner.onChange(() => this.update());
    new ResizeObserver(() => this.update()).observe(this.box);
    this.update();
  }

  private update(): void {
    const { state } = this.learner;
    const lanes = state ? lanesOf(state.events, this.learner) : new Map<number, Lane>();
    if (!state || lanes.size === 0) {
      this.box.innerHTML = '<p class="small">No cluster yet.</p>';
      return;
    }
    const streams = Math.max(1, state.info.streams);
    const row = new Map([...lanes.keys()].map((id, at) => [id, at]));
    const step = Math.max(LEAST_STEP, Math.min(90, (this.box.clientWidth - LEFT - 24) / streams));
    const x = (stream: number): number => LEFT + (Math.max(1, stream) - 0.5) * step;
    const y = (id: number): number => 14 + (row.get(id) ?? 0) * LANE;
    const [width, height] = [LEFT + streams * step + 24, lanes.size * LANE + 24];
    let inside = '';
    for (let s = 1; s <= streams; ++s) inside += `<text x="${x(s)}" y="${height - 4}" text-anchor="middle">${s}</text>`;
    for (const { id, from, to, into } of lanes.values()) {
      const end = to === null ? width - 12 : x(to);
      inside += `<line x1="${x(from)}" x2="${end}" y1="${y(id)}" y2="${y(id)}" stroke="${colourOf(id)}" stroke-width="3" stroke-linecap="round"/>`;
      if (into && row.has(into)) inside += `<line x1="${end}" x2="${end}" y1="${y(id)}" y2="${y(into)}" stroke="${colourOf(id)}" stroke-dasharray="3 3"/>`;
      const parent = this.learner.find(id)?.parent ?? 0;
      if (row.has(parent)) inside += `<line x1="${x(from)}" x2="${x(from)}" y1="${y(parent)}" y2="${y(id)}" stroke="${colourOf(id)}" stroke-dasharray="2 4"/>`;
    }
    this.box.innerHTML = `<div class="lanes" style="width:${width}px;height:${height}px"><svg width="${width}" height="${height}" aria-hidden="true">${inside}</svg></div>`;
    const holder = this.box.firstElementChild!;
    for (const id of lanes.keys()) {
      const label = document.createElement('span');
      label.className = 'lane-id';
      label.style.top = `${y(id) - 10}px`;
      label.innerHTML = `${markSvg(id)} ${id}`;
      holder.append(label);
    }
    for (const event of state.events.filter(({ type }) => SHOWN.has(type))) {
      const at = event.type === 'merged' ? event.other : event.id;
      if (!row.has(at)) continue;
      const mark = document.createElement('button');
      mark.type = 'button';
      mark.className = 'event';
      mark.style.left = `${x(event.stream) - 12}px`;
      mark.style.top = `${y(at) - 12}px`;
      mark.style.color = colourOf(at);
      mark.textContent = SIGN[event.type] ?? '●';
      mark.setAttribute('aria-label', reason(event.text));
      mark.title = reason(event.text);
      mark.onclick = () => (this.text.textContent = `Stream ${event.stream}: ${reason(event.text)}`);
      holder.append(mark);
    }
    this.box.scrollLeft = this.box.scrollWidth;
  }
}
