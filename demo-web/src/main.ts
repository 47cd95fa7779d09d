/** Puts the page together. */
import './style.css';

import { BirthView } from './birth-view';
import { button, element, show } from './dom';
import { fetchDigits } from './digits';
import { FilesView } from './files-view';
import { MapView } from './map-view';
import { PadView } from './pad-view';
import { Player, type Source, type Watcher } from './player';
import { PrototypesView } from './prototypes-view';
import { Scenario } from './scenario';
import { Session, type Learnt } from './session';
import { StreamView } from './stream-view';
import { optionsFor, TableSource } from './table-source';
import { TimelineView } from './timeline-view';

const SEED = 7;
/** One in twenty ordinary rows may be called novel: with few rows learnt, one in a hundred lets too much of the new pass. */
const DIGITS = { preset: 'browser', false_alarm_rate: 0.05, seed: 1 } as const;

async function start(): Promise<void> {
  const [digits, session] = await Promise.all([fetchDigits(`${import.meta.env.BASE_URL}digits.bin`), Session.create(DIGITS)]);
  const playDigits = (): Source => new Scenario(digits, SEED);
  /** What restart begins again. */
  let again: { options: Parameters<typeof Session.create>[0]; source: () => Source } = { options: DIGITS, source: playDigits };

  const streamView = new StreamView(session);
  const birthView = new BirthView(session);
  const mapView = new MapView(session);
  new PrototypesView(session);
  new TimelineView(session);
  const stage = element('stage', HTMLSpanElement);
  const bar = element('progress', HTMLDivElement);

  const facts = ({ milliseconds, report }: Learnt): void => {
    element('fact-speed', HTMLElement).textContent = `${Math.round(milliseconds)} ms, ${Math.round((1000 * report.rows) / milliseconds)} rows/s`;
  };
  session.onChange(() => {
    const { info } = session.state!;
    element('fact-stored', HTMLElement).textContent = String(info.rowsWaiting);
    element('fact-rows', HTMLElement).textContent = info.rows.toLocaleString('en');
    element('fact-bytes', HTMLElement).textContent = `${Math.round(info.snapshotBytes / 1024).toLocaleString('en')} KB`;
    element('fact-build', HTMLElement).textContent = info.backend;
    document.body.dataset['clusters'] = String(info.clusters);
  });
  session.onProgress((name, fraction) => {
    stage.textContent = `Learning: ${name}`;
    bar.style.transform = `scaleX(${fraction})`;
  });

  const watcher: Watcher = {
    began: (stream, scores) => streamView.began(stream, scores),
    came: (_, __, count) => streamView.came(count),
    learning: () => (bar.style.transform = 'scaleX(0)'),
    learnt: (stream, _, result) => {
      birthView.learnt(result, session.state?.info.streams ?? 0);
      void mapView.learnt(stream.rows);
      facts(result);
    },
    changed: () => {
      button('play').textContent = player.playing ? 'Pause' : 'Play';
      button('play').disabled = button('step').disabled = player.phase === 'finished';
      bar.style.transform = player.phase === 'learning' ? bar.style.transform : 'scaleX(0)';
      stage.textContent = {
        arriving: player.playing ? 'Rows come in' : 'Paused',
        learning: 'Learning',
        resting: player.playing ? 'Learnt' : 'Paused',
        finished: 'That is all',
      }[player.phase];
      document.body.dataset['phase'] = player.phase;
    },
    failed: (error) => fail(error),
  };
  const player: Player = new Player(session, playDigits(), watcher);
  const clear = (): void => [streamView, birthView, mapView].forEach((view) => view.clear());

  const pad = new PadView(
    session,
    () => player.play(false),
    (result) => {
      birthView.learnt(result, Infinity);
      facts(result);
    },
  );
  const begin = async (options: typeof again.options, source: () => Source): Promise<void> => {
    player.play(false);
    player.restart(null);
    await session.restart(options);
    again = { options, source };
    clear();
    pad.clear();
    player.restart(source());
    player.play(true);
  };
  new FilesView(
    session,
    () => {
      // The streams go on with the model that was opened, if it is one of digits.
      player.play(false);
      clear();
      pad.clear();
      player.restart(session.inputs === 784 ? playDigits() : null);
    },
    (table, name) => begin(optionsFor(table), () => new TableSource(table, name)),
    () => void begin(DIGITS, playDigits).catch(fail),
  );

  button('play').onclick = () => player.play(!player.playing);
  button('step').onclick = () => player.step();
  button('restart').onclick = () => void begin(again.options, again.source).catch(fail);
  const speed = element('speed', HTMLSelectElement);
  speed.onchange = () => (player.speed = Number(speed.value));
  player.speed = Number(speed.value); // browsers keep it over a reload
  player.play(true);
}

function fail(error: unknown): void {
  show(element('failure', HTMLParagraphElement), (error as Error).message);
}
start().catch(fail);
