/** Puts the page together. */
import './style.css';

import { BirthView } from './birth-view';
import { button, element, show } from './dom';
import { FiguresView } from './figures-view';
import { FilesView } from './files-view';
import { ForgettingView } from './forgetting-view';
import { InputMapView } from './input-map-view';
import { MapView } from './map-view';
import { PadView } from './pad-view';
import { drawRowsAs } from './picture';
import { Player, type Watcher } from './player';
import { PrototypesView } from './prototypes-view';
import { digitsOptions } from './scenario';
import { Learner, type Learnt } from './learner';
import { CHOICES, type Choice } from './sources';
import { SourcesView } from './sources-view';
import { StreamView } from './stream-view';
import { TimelineView } from './timeline-view';

/** `?seed=3` in the address plays with another one. */
function seedFor(choice: Choice): number {
  const seed = Number(new URLSearchParams(location.search).get('seed') ?? choice.seed);
  return Number.isSafeInteger(seed) && seed >= 0 ? seed : choice.seed;
}

async function start(): Promise<void> {
  /** What streams in, and what restart begins again. */
  let choice = CHOICES[0]!;
  let seed = seedFor(choice);
  const [learner, first] = await Promise.all([Learner.create(choice.options(seed)), choice.make(seed)]);

  const streamView = new StreamView(learner);
  const birthView = new BirthView(learner);
  const mapView = new MapView(learner);
  const inputMapView = new InputMapView(learner);
  const prototypesView = new PrototypesView(learner);
  new TimelineView(learner);
  const figuresView = new FiguresView(learner);
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
    element('fact-seed', HTMLElement).textContent = String(seed);
    document.body.dataset['clusters'] = String(info.clusters);
  });
  learner.onProgress((name, fraction) => {
    stage.textContent = `Learning: ${name}`;
    bar.style.transform = `scaleX(${fraction})`;
  });

  const watcher: Watcher = {
    began: (stream, scores) => {
      streamView.began(stream, scores);
      inputMapView.began(stream, scores);
      birthView.began();
    },
    came: (stream, _, count) => {
      streamView.came(count);
      inputMapView.came(count);
      prototypesView.wait(stream.count - count);
    },
    learning: () => (bar.style.transform = 'scaleX(0)'),
    learnt: (stream, _, result) => {
      birthView.learnt(result, learner.state?.info.streams ?? 0);
      streamView.learnt(result.events.filter(({ type }) => type === 'born').map(({ id }) => id));
      mapView.learnt(stream.rows).catch(() => {});
      inputMapView.learnt().catch(() => {});
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
      if (choice === CHOICES[0]) figuresView.finished(seed).catch(() => {}); // a model that another has replaced does not answer
    },
    failed: (error) => fail(error),
  };
  const player: Player = new Player(learner, first, watcher);
  const clear = (): void => [streamView, birthView, mapView, inputMapView, figuresView].forEach((view) => view.clear());
  const hold = (): (() => void) => {
    const { playing } = player;
    player.play(false);
    return () => player.play(playing || player.playing);
  };
  new ForgettingView(() => digitsOptions(seed), hold, fail);

  const pad = new PadView(
    learner,
    () => player.play(false),
    (result) => {
      birthView.learnt(result, Infinity);
      facts(result);
    },
  );
  const sources = new SourcesView((next) => void begin(next, seedFor(next)).catch(fail));
  /** The last thing that was asked for; what was asked for before gives way to it. */
  let asked = 0;
  const change = (next: Choice, shown = true): void => {
    choice = next;
    if (shown) sources.show(next);
    drawRowsAs(next.picture);
    clear();
    pad.clear();
  };
  const beginNow = async (next: Choice, nextSeed: number, turn: number): Promise<void> => {
    if (turn !== asked) return;
    const source = await next.make(nextSeed);
    player.play(false);
    player.restart(null);
    seed = nextSeed;
    await learner.restart(next.options(nextSeed));
    change(next, turn === asked);
    player.restart(source);
    player.play(true);
  };
  let begun: Promise<void> = Promise.resolve();
  const begin = (next: Choice, nextSeed: number): Promise<void> => {
    const turn = ++asked;
    const done = begun.then(() => beginNow(next, nextSeed, turn));
    begun = done.catch(() => sources.show(choice));
    return done;
  };
  let own: Choice | null = null;
  new FilesView(
    learner,
    async (name) => {
      // Streams go on with the model that was opened, if there are some of its width.
      player.play(false);
      const fitting = [choice, own, ...CHOICES].find((one) => one?.inputs === learner.inputs);
      if (fitting) {
        const source = await fitting.make(seed);
        change(fitting);
        return player.restart(source);
      }
      clear();
      pad.clear();
      drawRowsAs(await learner.picture());
      sources.none(`${name} is a model of rows of ${learner.inputs} numbers. Drop or paste such rows, and it goes on.`);
      player.restart(null);
    },
    () => learner.about(),
    async (next, goOn) => {
      own = next;
      if (!goOn) return begin(next, next.seed);
      const source = await next.make(seed);
      change(next);
      player.restart(source);
      player.play(true);
    },
  );

  button('play').onclick = () => player.play(!player.playing);
  button('step').onclick = () => player.step();
  button('restart').onclick = () => void begin(choice, seed).catch(fail);
  button('reseed').onclick = () => {
    history.replaceState(null, '', `?seed=${seed + 1}`);
    void begin(choice, seed + 1).catch(fail);
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
