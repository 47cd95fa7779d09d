/** Puts the page together. */
import './style.css';

import type { Options } from 'adapvae';

import { BirthView } from './birth-view';
import { button, element, grouped, lessMotion, show } from './dom';
import { fetchDigits } from './digits';
import digitsAddress from './digits.bin?url';
import { FilesView } from './files-view';
import { Guide } from './guide';
import { History } from './history';
import { MapView } from './map-view';
import { keepOffline } from './offline';
import { PadView } from './pad-view';
import { Player, type Source, type Watcher } from './player';
import { PrototypesView } from './prototypes-view';
import { Scenario } from './scenario';
import { Learner, type Learnt } from './learner';
import { DEFAULTS, powerOf, readSettings, sensitivityOf, writeSettings, type Settings } from './settings';
import { ShareView } from './share-view';
import { StreamView } from './stream-view';
import { optionsFor, TableSource } from './table-source';
import { TimelineView } from './timeline-view';

const STREAM_SEED = 7;
/** One in twenty ordinary rows may be called novel: with few rows learnt, one in a hundred lets too much of the new pass. Room for the
 * replay that goes with drawings. */
const digitsOptions = (seed: number): Options => ({ preset: 'browser', false_alarm_rate: 0.05, replay_rows: 4000, seed });

/** What can be played without a file, by its name in links. */
const SOURCES = ['digits'];

async function start(): Promise<void> {
  const { settings, complaints } = readSettings(location.search, SOURCES);
  show(element('complaint', HTMLParagraphElement), complaints.join(' '));
  // At once, so that what a person chooses while things are fetched holds.
  const speed = element('speed', HTMLSelectElement);
  speed.value = String(settings.speed);
  const slider = element('sensitivity', HTMLInputElement);
  slider.value = String(powerOf(settings.sensitivity[0]!));
  const [digits, learner] = await Promise.all([fetchDigits(digitsAddress), Learner.create(digitsOptions(settings.seed))]);
  const playDigits = (): Source => new Scenario(digits, STREAM_SEED);
  /** What restart begins again. */
  let again: { options: Options; source: () => Source; name: string | null } = { options: digitsOptions(settings.seed), source: playDigits, name: settings.source };

  /** The model came from a file: no link brings it back. */
  let foreign = false;

  const streamView = new StreamView(learner);
  const birthView = new BirthView(learner);
  const mapView = new MapView(learner);
  new PrototypesView(learner);
  new TimelineView(learner);
  const guide = new Guide(element('guide', HTMLParagraphElement));
  const history = new History();
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
    element('fact-seed', HTMLElement).textContent = String(again.options.seed ?? DEFAULTS.seed);
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
      birthView.began();
      guide.came(scores.novelty, 0);
    },
    came: (_, scores, count) => {
      streamView.came(count);
      guide.came(scores.novelty, count);
      tell();
    },
    learning: ({ rows }) => {
      bar.style.transform = 'scaleX(0)';
      mapView.watch(rows);
      learntWith = sensitivity();
    },
    learnt: (stream, scores, result) => {
      history.learnt(stream, scores, result, learntWith);
      guide.learnt(result);
      birthView.learnt(result, learner.state?.info.streams ?? 0);
      streamView.learnt(result.events.filter(({ type }) => type === 'born').map(({ id }) => id));
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
    failed: (error) => fail(error),
  };
  const player: Player = new Player(learner, playDigits(), watcher);
  const clear = (): void => [streamView, birthView, mapView, history, guide].forEach((part) => part.clear());

  const pad = new PadView(
    learner,
    () => player.play(false),
    (result) => {
      birthView.learnt(result, Infinity);
      facts(result);
    },
  );
  const begin = async (options: Options, source: () => Source, name: string | null): Promise<void> => {
    player.play(false);
    player.restart(null);
    await learner.restart(options);
    again = { options, source, name };
    foreign = false;
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
      foreign = true;
    },
    (table, name) => begin(optionsFor(table), () => new TableSource(table, name), null),
    () => void begin(digitsOptions(settings.seed), playDigits, 'digits').catch(fail),
  );
  /** What the page shows now, as settings. */
  const now = (): Settings => ({
    source: again.name ?? DEFAULTS.source,
    seed: again.options.seed ?? DEFAULTS.seed,
    speed: player.speed,
    sensitivity: [...history.played.map((played) => played.sensitivity), sensitivity()],
    streams: player.learnt,
  });
  new ShareView(learner, () => ({
    options: foreign ? null : again.options,
    sensitivity: sensitivity(),
    link: again.name === null || foreign ? null : new URL(writeSettings(now()), location.href.replace(/[?#].*$/, '')).href,
    played: history.played,
    source: again.source,
    title: `What it found in ${again.name ?? 'my own rows'}`,
  }));

  button('play').onclick = () => player.play(!player.playing);
  button('step').onclick = () => player.step();
  button('restart').onclick = () => void begin(again.options, again.source, again.name).catch(fail);
  button('reseed').onclick = () => {
    const seed = (again.options.seed ?? DEFAULTS.seed) + 1;
    if (again.name !== null) window.history.replaceState(null, '', writeSettings({ ...now(), seed, sensitivity: [sensitivity()], streams: 0 }));
    void begin({ ...again.options, seed }, again.source, again.name).catch(fail);
  };
  player.speed = Number(speed.value);
  speed.onchange = () => (player.speed = Number(speed.value));
  slider.oninput = () => void sense(sensitivity()).catch(fail);
  if (sensitivity() !== 1) await sense(sensitivity());
  hooks(sense);
  player.restart(playDigits(), settings.streams);
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
