/** The page's report: one file that needs nothing else, in the style of the program's own. */
import type { Options } from 'adapvae';
import { CHANGES, reasonOf } from './event-words';
import { PIXELS } from './digits';
import type { Played } from './history';
import type { Known, Learner, ModelEvent, State } from './learner';
import { lanesOf, type Lane } from './lanes';
import { colourOf, markSvg } from './marks';
import { drawRow } from './picture';
import style from './report.css?raw';

/** Of report.css, as a policy names it; the build puts it in. */
declare const REPORT_STYLE_HASH: string;

export interface ReportData {
  title: string;
  /** When it was made, in words. */
  made: string;
  /** The address that plays this again; null: a link cannot. */
  link: string | null;
  learner: Learner;
  /** Null: the model came from a file. */
  options: Options | null;
  sensitivity: number;
  played: readonly Played[];
  score: { byCluster: number; byComponent: number } | null;
}

const MOST_LINES = 500; // of a table, as in the program's reports

/** Of that style alone and of pictures that the file holds: nothing else is loaded, and no script runs. The program's reports say the same. */
const POLICY = `default-src 'none'; style-src '${REPORT_STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`;

const number = (value: number, digits = 0): string =>
  value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
const percent = (part: number): string => `${number(100 * part, part < 0.1 ? 1 : 0)} %`;
const counted = (count: number, word: string): string => `${number(count)} ${word}${count === 1 ? '' : 's'}`;
const safe = (text: unknown): string => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

function section(id: string, heading: string, note: string, body: string): string {
  return `<section id="${id}" aria-labelledby="${id}-h"><div class=side><h2 id="${id}-h">${heading}</h2><p>${note}</p></div><div class=body>${body}</div></section>\n`;
}

function table(head: string[], rows: string[][], words: readonly number[]): string {
  const cell =
    (tag: string) =>
    (text: string, at: number): string =>
      `<${tag}${words.includes(at) ? '' : ' class=n'}>${text}</${tag}>`;
  const line = (tag: string, cells: string[]): string => `<tr>${cells.map(cell(tag)).join('')}</tr>`;
  return `<div class=scroll tabindex=0><table><thead>${line('th', head)}</thead><tbody>${rows.map((row) => line('td', row)).join('\n')}</tbody></table></div>`;
}

function picture(row: Float32Array): string {
  const target = document.createElement('canvas');
  const side = row.length === PIXELS ? 28 : 112;
  target.width = target.height = side;
  drawRow(target.getContext('2d')!, row, 0, 0, side);
  return target.toDataURL('image/png');
}

function prototypes({ clusters, alive, mass }: State): string {
  const card = ({ id, name, rows, prototype }: Known): string =>
    `<li><img width=112 height=112 alt="Typical row of cluster ${id}" src="${picture(prototype)}">` +
    `<div title="${safe(name)}">${markSvg(id, 'sw')} <b>${id}</b> ${safe(name)}</div><span>${percent(rows / (mass || 1))}</span><span>${number(rows)} rows</span></li>`;
  const more = alive.size > clusters.length ? `<p class=small>These are the ${number(clusters.length)} largest of ${number(alive.size)} clusters.</p>` : '';
  return `<ul class=protos>${clusters.map(card).join('\n')}</ul>${more}`;
}

function timeline(state: State, lanes: Lane[]): string {
  const streams = Math.max(1, state.info.streams);
  const [left, width, pitch, top] = [132, 960, 28, 24];
  const step = (width - left - 40) / streams;
  const x = (stream: number): number => Math.round(left + (Math.max(1, Math.min(streams, stream)) - 0.5) * step);
  const line = new Map(lanes.map(({ id }, at) => [id, at]));
  const known = new Map(state.clusters.map((cluster) => [cluster.id, cluster]));
  const y = (id: number): number => top + pitch * line.get(id)!;
  let inside = '';
  for (let s = 1; s <= streams; s += Math.ceil(streams / Math.min(24, Math.floor(110 / String(streams).length))))
    inside += `<text class="t m" x=${x(s)} y=${top + pitch * lanes.length + 8}>${s}</text>`;
  for (const { id, from, to, into } of lanes) {
    const end = to === null ? width - 20 : x(to);
    inside += `<text class="t e i" x=${left - 20} y=${y(id) + 4}>${id} ${safe(known.get(id)?.name ?? '')}</text>`;
    inside += `<path d="M${x(from)} ${y(id)}H${end}" stroke="${colourOf(id)}" stroke-width=5 stroke-linecap=round><title>cluster ${id}, from stream ${from}</title></path>`;
    const parent = known.get(id)?.parent ?? 0;
    for (const [other, at] of [
      [into, end],
      [parent, x(from)],
    ] as const) {
      if (other && line.has(other)) inside += `<path class=fold d="M${at} ${y(id)}V${y(other)}"/>`;
    }
    inside += `<circle class=mark cx=${x(from)} cy=${y(id)} r=5 />`;
    if (to !== null) inside += `<path class=ink d="M${end - 4} ${y(id) - 4}l8 8m0 -8l-8 8" stroke="currentColor" stroke-width=1.2 />`;
  }
  const label = `Lanes of ${counted(lanes.length, 'cluster')} over ${counted(streams, 'stream')}; the table below has the same`;
  const size = `0 0 ${width} ${top + pitch * lanes.length + 16}`;
  return `<div class=scroll tabindex=0><svg class=wide viewBox="${size}" role=img aria-label="${label}">${inside}</svg></div>`;
}

function reasons(events: ModelEvent[]): string {
  const told = (chosen: ModelEvent[]): string =>
    (chosen.length > MOST_LINES ? `<p class=small>These are the last ${MOST_LINES}.</p>` : '') +
    table(
      ['stream', 'event', 'cluster', 'why'],
      chosen.slice(-MOST_LINES).map((event) => [
        number(event.stream),
        safe(event.type.replace('_', ' ')),
        event.id ? `${markSvg(event.id, 'sw')} ${event.id}` : '–',
        safe(reasonOf(event)),
      ]),
      [1, 2, 3],
    );
  const changes = events.filter(({ type }) => CHANGES.has(type));
  const refusals = events.filter(({ type }) => type === 'not_born');
  return (
    (changes.length ? told(changes) : '<p class=empty>Nothing has happened yet.</p>') +
    (refusals.length ? `<details><summary>Why nothing else was born</summary>${told(refusals)}</details>` : '')
  );
}

function streamTable(played: readonly Played[]): string {
  if (!played.length) return '<p class=empty>No stream of the page was learnt.</p>';
  return table(
    ['stream', 'rows', 'novel when met', 'of the new kind', 'born', 'clusters', 'time', 'sensitivity'],
    played.map((p) => [
      safe(p.title),
      number(p.rows),
      percent(p.novel / p.rows),
      p.unseen ? `${number(p.unseenNovel)} of ${number(p.unseen)}` : '–',
      number(p.births),
      number(p.clusters),
      `${number(p.milliseconds)} ms`,
      `${number(p.sensitivity, 2)}×`,
    ]),
    [0],
  );
}

export function reportPage(data: ReportData): string {
  const { learner, played, score, options } = data;
  const state = learner.state!;
  const { clusters, events, info, components } = state;
  const lanes = [...lanesOf(state).values()];
  const born = events.filter(({ type }) => type === 'born').length;
  const merged = events.filter(({ type }) => type === 'merged').length;
  const tiles = [
    [number(info.rows), 'rows learnt'],
    [number(info.streams), 'streams'],
    [number(info.clusters), 'clusters'],
    [number(components), 'components'],
    [number(born), 'born'],
    [number(merged), 'merged'],
    [number(info.rowsWaiting), 'past rows stored'],
    ...(score
      ? [
          [number(score.byCluster, 2), 'NMI by clusters'],
          [number(score.byComponent, 2), 'NMI by components'],
        ]
      : []),
  ];
  const facts = [
    ...Object.entries(options ?? {}).map(([name, value]) => [`<code>${safe(name)}</code>`, safe(value)]),
    ['sensitivity now', `${number(data.sensitivity, 2)}×`],
    ['inputs, features', `${info.inputs}, ${info.latent}`],
    ['kernels', safe(info.backend)],
    ['memory of the model', `${number(info.memoryBytes / 1024)} KB`],
    ['model file', `${number(info.snapshotBytes / 1024)} KB`],
    ['browser', safe(navigator.userAgent)],
    ...(data.link ? [['plays it again', `<a href="${safe(data.link)}">${safe(data.link)}</a>`]] : []),
  ];
  const sections = [
    section(
      'timeline',
      'Timeline',
      'A lane for each cluster, from the stream of its birth. Dotted: out of which cluster it came, or into which it went.',
      lanes.length ? timeline(state, lanes) + '<h3>Events</h3>' + reasons(events) : '<p class=empty>No cluster yet.</p>',
    ),
    section(
      'prototypes',
      'Prototypes',
      'What each cluster stands for: the row that the network decodes from its middle.',
      clusters.length ? prototypes(state) : '<p class=empty>No cluster yet.</p>',
    ),
    section(
      'streams',
      'Streams',
      'Novelty is of each row as it came, before it was learnt. The new kind: rows of a kind that no stream before had; the model was not told.',
      streamTable(played),
    ),
    section(
      'settings',
      'Settings',
      score ? 'NMI compares clusters with labels over all rows of the streams above; labels serve for that alone.' : '',
      `<dl class=facts>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>`,
    ),
  ];
  return (
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="viewport" content="width=device-width,initial-scale=1">` +
    `<meta name="color-scheme" content="light dark"><title>${safe(data.title)}</title><style>${style}</style></head><body>\n` +
    `<header><h1>${safe(data.title)}</h1><p class=lead>${counted(info.streams, 'stream')}, ${counted(info.rows, 'row')}, ${counted(info.clusters, 'cluster')} of ${counted(components, 'component')}; ` +
    `${number(born)} born, ${number(merged)} merged.</p><p class=made>${safe(data.made)}</p>` +
    `<dl class=tiles>${tiles.map(([value, name]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl></header>\n<main>\n${sections.join('')}</main></body></html>\n`
  );
}
