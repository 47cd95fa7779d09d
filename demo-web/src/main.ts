/** Puts the page together. */
import './style.css';

import type { Options } from 'adapvae';

import { BirthView } from './birth-view';
import { button, element, show } from './dom';
import { fetchDigits } from './digits';
import { FiguresView } from './figures-view';
import { FilesView } from './files-view';
import { ForgettingView } from './forgetting-view';
import { MapView } from './map-view';
import { PadView } from './pad-view';
import { Player, type Source, type Watcher } from './player';
import { PrototypesView } from './prototypes-view';
import { digitsOptions, Scenario } from './scenario';
import { Learner, type Learnt } from './learner';
import { StreamView } from './stream-view';
import { optionsFor, TableSource } from './table-source';
import { TimelineView } from './timeline-view';

/** Neither the best nor the worst of those in docs/results/web.md. */
const MODEL_SEED = 2;

/** `?seed=3` in the address plays with another one. */
function seedOfAddress(): number {
  const seed = Number(new URLSearchParams(location.search).get('seed') ?? MODEL_SEED);
  return Number.isSafeInteger(seed) && seed >= 0 ? seed : MODEL_SEED;
}

async function start(): Promise<void> {
  const [digits, learner] = await Promise.all([fetchDigits(`${import.meta.env.BASE_URL}digits.bin`), Learner.create(digitsOptions(seedOfAddress()))]);
  const playDigits = (): Source => new Scenario(digits);
  /** What restart begins again. */
  let again: { options: Options; source: () => Source } = { options: digitsOptions(seedOfAddress()), source: playDigits };
  const seed = (): number => again.options.seed ?? MODEL_SEED;

  const streamView = new StreamView(learner);
  const birthView = new BirthView(learner);
  const mapView = new MapView(learner);
  const prototypesView = new PrototypesView(learner);
  new TimelineView(learner);
  const figuresView = new FiguresView(learner, digits);
  const stage = element('stage', HTMLSpanElement);
  const bar = element('progress', HTMLDivElement);

  const facts = ({ milliseconds, report }: Learnt): void => {
    element('fact-speed', HTMLElement).textContent = `${Math.round(milliseconds)} ms, ${Math.round((1000 * report.rows) / milliseconds)} rows/s`;
  };
  learner.onChange(() => {
    const { info } = learner.state!;
    element('fact-stored', HTMLElement).textContent = String(info.rowsWaiting);
    element('fact-rows', HTMLElement).textContent = info.rows.toLocaleString('en');
    element('fact-bytes', HTMLElement).textContent = `${Math.round(info.snapshotBytes / 1024).toLocaleString('en')} KB`;
    element('fact-build', HTMLElement).textContent = info.backend;
    element('fact-seed', HTMLElement).textContent = String(seed());
    document.body.dataset['clusters'] = String(info.clusters);
  });
  learner.onProgress((name, fraction) => {
    stage.textContent = `Learning: ${name}`;
    bar.style.transform = `scaleX(${fraction})`;
  });

  const watcher: Watcher = {
    began: (stream, scores) => {
      streamView.began(stream, scores);
      birthView.began();
    },
    came: (stream, _, count) => {
      streamView.came(count);
      prototypesView.wait(stream.count - count);
    },
    learning: () => (bar.style.transform = 'scaleX(0)'),
    learnt: (stream, _, result) => {
      birthView.learnt(result, learner.state?.info.streams ?? 0);
      streamView.learnt(result.events.filter(({ type }) => type === 'born').map(({ id }) => id));
      mapView.learnt(stream.rows).catch(() => {});
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
    ended: () => {
      if (again.source === playDigits) figuresView.finished(seed()).catch(() => {}); // a model that another has replaced does not answer
    },
    failed: (error) => fail(error),
  };
  const player: Player = new Player(learner, playDigits(), watcher);
  const clear = (): void => [streamView, birthView, mapView, figuresView].forEach((view) => view.clear());
  const hold = (): (() => void) => {
    const { playing } = player;
    player.play(false);
    return () => player.play(playing || player.playing);
  };
  new ForgettingView(digits, () => digitsOptions(seed()), hold, fail);

  const pad = new PadView(
    learner,
    () => player.play(false),
    (result) => {
      birthView.learnt(result, Infinity);
      facts(result);
    },
  );
  const begin = async (options: Options, source: () => Source): Promise<void> => {
    player.play(false);
    player.restart(null);
    await learner.restart(options);
    again = { options, source };
    clear();
    pad.clear();
    player.restart(source());
    player.play(true);
  };
  new FilesView(
    learner,
    () => {
      // The streams go on with the model that was opened, if it is one of digits.
      player.play(false);
      clear();
      pad.clear();
      player.restart(learner.inputs === 784 ? playDigits() : null);
    },
    (table, name) => begin(optionsFor(table), () => new TableSource(table, name)),
    () => void begin(digitsOptions(seedOfAddress()), playDigits).catch(fail),
  );

  button('play').onclick = () => player.play(!player.playing);
  button('step').onclick = () => player.step();
  button('restart').onclick = () => void begin(again.options, again.source).catch(fail);
  button('reseed').onclick = () => {
    const next = seed() + 1;
    history.replaceState(null, '', `?seed=${next}`);
    void begin({ ...again.options, seed: next }, again.source).catch(fail);
  };
  const speed = element('speed', HTMLSelectElement);
  speed.onchange = () => (player.speed = Number(speed.value));
  player.speed = Number(speed.value); // browsers keep it over a reload
  const sensitivity = element('sensitivity', HTMLInputElement);
  const sense = async (): Promise<void> => {
    const factor = 2 ** Number(sensitivity.value);
    element('sensitivity-text', HTMLOutputElement).textContent = `${factor < 1 ? factor.toFixed(2) : factor.toFixed(factor % 1 ? 1 : 0)}×`;
    await learner.setSensitivity(factor);
    await player.rescore();
  };
  sensitivity.oninput = () => void sense().catch(fail);
  if (sensitivity.value !== '0') await sense();
  player.play(true);
}

function fail(error: unknown): void {
  show(element('failure', HTMLParagraphElement), (error as Error).message);
}
start().catch(fail);
