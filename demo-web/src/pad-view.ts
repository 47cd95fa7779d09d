/** The draw pad: what is this, how sure, how new? And more of it, until a cluster is born. */
import { button, canvas, colour, element, made } from './dom';
import { PIXELS } from './digits';
import { drawAlone } from './picture';
import { randomNumbers } from './random';
import type { Learnt, Learner } from './learner';
import { imageOf, someDeformation, type Point, type Stroke } from './strokes';

const FED = 40;
/** Forty rows of one kind pull the network their way, so eight of what it knows go with each. In 15 trials (5 symbols, 3 models) one gave
 * a cluster 11 times and changed prototypes down to a correlation of 0.75; eight 14 times, 0.97. */
const FED_REPLAY = 8;
const KEY_STEP = 0.04;
const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class PadView {
  private readonly pad = canvas('pad');
  private readonly verdict = element('pad-verdict', HTMLParagraphElement);
  private readonly meter = element('pad-meter', HTMLDivElement);
  private readonly fed = element('fed', HTMLParagraphElement);
  private readonly random = randomNumbers(11);
  private strokes: Stroke[] = [];
  private pen: Point | null = null; // where the keyboard's pen is
  private down = false;
  private asked = 0;
  private waiting = false;

  constructor(
    private readonly learner: Learner,
    /** The person draws: other streams should wait. */
    private readonly begun: () => void,
    private readonly learnt: (result: Learnt) => void,
  ) {
    this.pad.addEventListener('pointerdown', (event) => {
      this.pad.setPointerCapture(event.pointerId);
      this.begun();
      this.strokes.push([this.place(event)]);
      this.changed();
    });
    this.pad.addEventListener('pointermove', (event) => {
      if (!this.pad.hasPointerCapture(event.pointerId)) return;
      const stroke = this.strokes.at(-1);
      const moves = event.getCoalescedEvents?.() ?? [];
      for (const move of moves.length ? moves : [event]) stroke?.push(this.place(move));
      this.changed();
    });
    this.pad.addEventListener('keydown', (event) => this.key(event));
    button('clear').onclick = () => this.clear();
    button('feed').onclick = () => void this.feed();
    learner.onChange(() => {
      // A pad that the model cannot look at is none.
      element('pad-section', HTMLElement).hidden = element('skip', HTMLAnchorElement).hidden = !this.usable;
      this.changed();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.clear();
  }

  private get usable(): boolean {
    return this.learner.inputs === PIXELS;
  }

  private place(event: PointerEvent): Point {
    const box = this.pad.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  private key(event: KeyboardEvent): void {
    const move = MOVES[event.key];
    if (event.key === 'Escape') this.clear();
    else if (move) {
      const from = this.pen ?? { x: 0.5, y: 0.5 };
      const inside = (value: number): number => Math.max(0.05, Math.min(0.95, value));
      this.pen = { x: inside(from.x + move[0] * KEY_STEP), y: inside(from.y + move[1] * KEY_STEP) };
      if (this.down) this.strokes.at(-1)?.push({ ...this.pen });
    } else if (event.key === ' ') {
      this.begun();
      this.down = !this.down;
      this.pen ??= { x: 0.5, y: 0.5 };
      if (this.down) this.strokes.push([{ ...this.pen }]);
    } else return;
    event.preventDefault();
    this.changed();
  }

  clear(): void {
    this.strokes = [];
    this.down = false;
    this.fed.textContent = '';
    this.changed();
  }

  private changed(): void {
    this.draw();
    this.answer().catch(() => {}); // a model that another has replaced does not answer
  }

  private draw(): void {
    const context = this.pad.getContext('2d')!;
    const side = this.pad.width;
    context.fillStyle = '#000';
    context.fillRect(0, 0, side, side);
    context.strokeStyle = '#fff';
    context.lineWidth = side * 0.06;
    context.lineCap = context.lineJoin = 'round';
    for (const stroke of this.strokes) {
      context.beginPath();
      stroke.forEach(({ x, y }, i) => (i ? context.lineTo(x * side, y * side) : context.moveTo(x * side, y * side)));
      if (stroke.length === 1) context.lineTo(stroke[0]!.x * side, stroke[0]!.y * side);
      context.stroke();
    }
    if (this.pen) {
      context.strokeStyle = colour('novel');
      context.lineWidth = 3;
      context.beginPath();
      context.arc(this.pen.x * side, this.pen.y * side, this.down ? 8 : 16, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /** Asks the worker; while it is busy only the newest drawing is kept as a question. */
  private async answer(): Promise<void> {
    const image = this.usable ? imageOf(this.strokes) : null;
    button('feed').disabled = !image || this.waiting;
    drawAlone(canvas('pad-seen'), image);
    const question = ++this.asked;
    if (!image) {
      drawAlone(canvas('pad-back'), null);
      this.meter.style.width = '0';
      this.verdict.textContent = 'A digit, or a symbol that it has never met. Arrow keys and space draw, too.';
      return;
    }
    await new Promise(requestAnimationFrame);
    if (question !== this.asked) return;
    const [scores, back] = await Promise.all([this.learner.score(image), this.learner.reconstruct(image)]);
    if (question !== this.asked) return;
    const [id, novelty, probability] = [scores.id[0]!, scores.novelty[0]!, scores.probability[0]!];
    drawAlone(canvas('pad-back'), id ? back : null);
    this.meter.style.width = `${100 * novelty}%`;
    this.meter.classList.toggle('is-novel', novelty > 0.5);
    this.verdict.dataset['novelty'] = String(novelty);
    this.verdict.replaceChildren(
      made('strong', {}, novelty > 0.5 ? 'New to me' : `Looks like ${this.learner.title(id)}`),
      ` novelty ${novelty.toFixed(2)}` +
        (id ? `; nearest: ${this.learner.title(id)}, probability ${probability.toFixed(2)}` : '; nothing is learnt yet'),
    );
  }

  private async feed(): Promise<void> {
    this.begun();
    const rows = new Float32Array(FED * PIXELS);
    for (let i = 0; i < FED; ++i) rows.set(imageOf(this.strokes, someDeformation(this.random)) ?? [], i * PIXELS);
    this.waiting = button('feed').disabled = true;
    this.fed.textContent = 'Learning …';
    try {
      const result = await this.learner.learn(rows, FED_REPLAY);
      const born = result.events.filter(({ type }) => type === 'born').map(({ id }) => id);
      this.fed.textContent = born.length
        ? `Your own cluster is born: ${born.join(', ')}. Draw it again: it is known now.`
        : 'Learnt; no cluster was born this time: the rows fit what is known well enough. Feed it again, or draw something else.';
      this.learnt(result);
    } catch (error) {
      this.fed.textContent = (error as Error).message;
    } finally {
      this.waiting = false;
      this.changed();
    }
  }
}
