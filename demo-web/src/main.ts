/** Puts the page together. */
import './style.css';
import './trust';

import { BirthView } from './birth-view';
import { button, element, grouped, lessMotion, show } from './dom';
import { FiguresView } from './figures-view';
import { FilesView } from './files-view';
import { ForgettingView } from './forgetting-view';
import { Guide } from './guide';
import { History } from './history';
import { InputMapView } from './input-map-view';
import { MapView } from './map-view';
import { keepOffline } from './offline';
import { PadView } from './pad-view';
import { drawRowsAs } from './picture';
import { Player, type Watcher } from './player';
import { PrototypesView } from './prototypes-view';
import { digitsOptions } from './scenario';
import { Learner, type Learnt } from './learner';
import { powerOf, readSettings, sensitivityOf, writeSettings, type Settings } from './settings';
import { ShareView } from './share-view';
import { CHOICES, type Choice } from './sources';
import { SourcesView } from './sources-view';
import { StreamView } from './stream-view';
import { TimelineView } from './timeline-view';

async function start(): Promise<void> {
  const { settings, complaints } = readSettings(location.search, CHOICES.map(({ id }) => id));
  show(element('complaint', HTMLParagraphElement), complaints.join(' '));
  // At once, so that what a person chooses while things are fetched holds.
  const speed = element('speed', HTMLSelectElement);
  speed.value = String(settings.speed);
  const slider = element('sensitivity', HTMLInputElement);
  slider.value = String(powerOf(settings.sensitivity[0]!));
  /** What streams in, and what restart begins again. */
  let choice = CHOICES.find(({ id }) => id === settings.source)!;
  const seedFor = (next: Choice): number => settings.seed ?? next.seed;
  let seed = seedFor(choice);
  /** A model from a file, or one that goes on with other rows: no link brings it back. */
  let foreign = false;
  drawRowsAs(choice.picture);
  const [learner, first] = await Promise.all([Learner.create(choice.options(seed)), choice.make(seed)]);

  const streamView = new StreamView(learner);
  const birthView = new BirthView(learner);
  const mapView = new MapView(learner);
  const inputMapView = new InputMapView(learner);
  const prototypesView = new PrototypesView(learner);
  new TimelineView(learner);
  const figuresView = new FiguresView(learner);
  const guide = new Guide(element('guide', HTMLParagraphElement));
  const past = new History();
  const stage = element('stage', HTMLSpanElement);
  const bar = element('progress', HTMLDivElement);

  const facts = ({ milliseconds, report }: Learnt): void => {
    element('fact-speed', HTMLElement).textContent = `${Math.round(milliseconds)} ms, ${Math.round((1000 * report.rows) / milliseconds)} rows/s`;
  };
  const count = (): void => {
    const { info } = learner.state!;
    element('fact-stored', HTMLElement).textContent = String(info.rowsWaiting);
    element('fact-rows', HTMLElement).textContent = grouped(info.rows);
    element('fact-bytes', HTMLElement).textContent = `${grouped(info.snapshotBytes / 1024)} KB`;
    element('fact-build', HTMLElement).textContent = info.backend;
    element('fact-seed', HTMLElement).textContent = String(seed);
    document.body.dataset['clusters'] = String(info.clusters);
  };
  learner.onChange(count);
  count();
  learner.onProgress((name, fraction) => {
    stage.textContent = `Learning: ${name}`;
    bar.style.transform = `scaleX(${fraction})`;
  });

  const sensitivity = (): number => sensitivityOf(Number(slider.value));
  const sense = async (factor: number): Promise<void> => {
    slider.value = String(powerOf(factor));
    const text = `${factor < 1 ? factor.toFixed(2) : factor.toFixed(factor % 1 ? 1 : 0)}×`;
    slider.ariaValueText = text;
    element('sensitivity-text', HTMLOutputElement).textContent = text;
    await learner.setSensitivity(factor);
    await player.rescore();
  };
  /** Of the stream that is being learnt, whatever the slider does meanwhile. */
  let learntWith = sensitivity();
  const tell = (): void => guide.tell(player.phase, player.playing, player.hurry);

  const watcher: Watcher = {
    hurries: (stream) => sense(settings.sensitivity[Math.min(stream, settings.sensitivity.length - 1)]!),
    began: (stream, scores) => {
      streamView.began(stream, scores);
      inputMapView.began(stream, scores);
      birthView.began();
      guide.came(scores.novelty, 0);
    },
    came: (stream, scores, count) => {
      streamView.came(count);
      inputMapView.came(count);
      prototypesView.wait(stream.count - count);
      guide.came(scores.novelty, count);
      tell();
    },
    learning: ({ rows }) => {
      bar.style.transform = 'scaleX(0)';
      mapView.watch(rows);
      learntWith = sensitivity();
    },
    learnt: (stream, scores, result) => {
      past.learnt(stream, scores, result, learntWith);
      guide.learnt(result);
      birthView.learnt(result, learner.state?.info.streams ?? 0);
      streamView.learnt(result.events.filter(({ type }) => type === 'born').map(({ id }) => id));
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
      document.body.dataset['playing'] = String(player.playing);
      tell();
    },
    ended: () => {
      if (choice === CHOICES[0]) figuresView.finished(seed).catch(() => {}); // a model that another has replaced does not answer
    },
    failed: (error) => fail(error),
  };
  const player: Player = new Player(learner, first, watcher);
  const clear = (): void => [streamView, birthView, mapView, inputMapView, figuresView, past, guide].forEach((part) => part.clear());
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
    foreign = true; // unless the model begins anew
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
    foreign = false;
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
      foreign = true;
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

  /** What the page shows now, as settings. */
  const now = (): Settings => ({
    source: choice.id,
    seed,
    speed: player.speed,
    sensitivity: [...past.played.map((played) => played.sensitivity), sensitivity()],
    streams: player.learnt,
  });
  new ShareView(learner, () => ({
    options: foreign ? null : choice.options(seed),
    sensitivity: sensitivity(),
    link: foreign || !CHOICES.includes(choice) ? null : new URL(writeSettings(now()), location.href.replace(/[?#].*$/, '')).href,
    played: past.played,
    source: () => choice.make(seed),
    title: `What it found: ${choice.title}`,
  }));

  button('play').onclick = () => player.play(!player.playing);
  button('step').onclick = () => player.step();
  button('restart').onclick = () => void begin(choice, seed).catch(fail);
  button('reseed').onclick = () => {
    const next = seed + 1;
    if (CHOICES.includes(choice)) history.replaceState(null, '', writeSettings({ ...now(), seed: next, sensitivity: [sensitivity()], streams: 0 }));
    void begin(choice, next).catch(fail);
  };
  player.speed = Number(speed.value);
  speed.onchange = () => (player.speed = Number(speed.value));
  slider.oninput = () => void sense(sensitivity()).catch(fail);
  if (sensitivity() !== 1) await sense(sensitivity());
  hooks(sense);
  sources.show(choice);
  player.restart(first, settings.streams);
  player.play(true);
  setTimeout(() => void keepOffline(() => (element('fact-offline', HTMLElement).textContent = 'yes')), 2000); // first things first
}

/** Buttons in the text that do what it speaks of. */
function hooks(sense: (factor: number) => Promise<void>): void {
  for (const hook of document.querySelectorAll<HTMLButtonElement>('button[data-sensitivity]')) {
    hook.onclick = () => void sense(Number(hook.dataset['sensitivity'])).catch(fail);
  }
  for (const hook of document.querySelectorAll<HTMLButtonElement>('button[data-go]')) {
    hook.onclick = () => {
      const target = element(hook.dataset['go']!, HTMLElement);
      target.scrollIntoView({ block: 'center', behavior: lessMotion() ? 'instant' : 'smooth' });
      target.focus({ preventScroll: true });
    };
  }
  // On a small screen the settings fold away.
  const more = element('more', HTMLDetailsElement);
  const wide = matchMedia('(min-width: 821px)');
  const fold = (): void => void (more.open = wide.matches);
  wide.onchange = fold;
  fold();
}

function fail(error: unknown): void {
  show(element('failure', HTMLParagraphElement), (error as Error).message);
}
start().catch(fail);
