/** What the model knows, a card a cluster, and the person's corrections. */
import { announce, button, element, grouped, made, show } from './dom';
import { markElement } from './marks';
import { drawAlone } from './picture';
import type { Known, Learner } from './learner';

type Correction = (force: boolean) => Promise<string>;

export class PrototypesView {
  private readonly list = element('prototypes', HTMLUListElement);
  private readonly notice = element('correction', HTMLParagraphElement);
  private readonly chosen = new Set<number>();
  private cards = new Map<number, HTMLLIElement>();
  private seen = new Set<number>();

  constructor(private readonly learner: Learner) {
    learner.onChange(() => this.update());
    button('merge').onclick = () => {
      const [id, other] = [...this.chosen];
      if (id && other) this.merge(id, other);
    };
    button('split').onclick = () => {
      const [id] = [...this.chosen];
      if (!id) return;
      void this.correct(async (force) => {
        const { part } = await learner.correct((model) => model.split(id, { force }));
        return `Cluster ${id} was split; its part is cluster ${part}.`;
      });
    };
    button('forget').onclick = () => {
      const ids = [...this.chosen];
      void this.correct(async () => {
        for (const id of ids) await learner.correct((model) => model.forget(id));
        return `Cluster ${ids.join(' and ')} is forgotten.`;
      });
    };
    button('undo').onclick = () =>
      void this.correct(async () => {
        await learner.correct((model) => model.undo());
        return 'The last correction is undone.';
      });
    this.update();
  }

  /** While nothing is known: how many rows the first stream still has to bring. */
  wait(rows: number): void {
    if (this.cards.size) return;
    element('known-wait', HTMLSpanElement).textContent = rows ? `${rows} rows to go.` : 'The first stream is there; it looks for groups in it.';
  }

  private merge(id: number, other: number): void {
    void this.correct(async (force) => {
      await this.learner.correct((model) => model.merge(id, other, { force }));
      return `Cluster ${other} is now part of cluster ${id}.`;
    });
  }

  /** A correction that the evidence speaks against is refused once and offered again. */
  private async correct(correction: Correction, force = false): Promise<void> {
    try {
      const said = await correction(force);
      this.chosen.clear();
      this.update();
      this.notice.textContent = said;
      announce(said);
    } catch (error) {
      const { message, status } = error as Error & { status?: string };
      this.notice.textContent = `${message}. `;
      if (status !== 'ADAPVAE_REFUSED' || force) return;
      const anyway = document.createElement('button');
      anyway.type = 'button';
      anyway.textContent = 'Do it anyway';
      anyway.onclick = () => void this.correct(correction, true);
      this.notice.append(anyway);
    }
  }

  private update(): void {
    const clusters = this.learner.state?.clusters ?? [];
    const ids = new Set(clusters.map(({ id }) => id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      card.remove();
      this.cards.delete(id);
      this.chosen.delete(id);
    }
    const { mass = 0, alive } = this.learner.state ?? {};
    clusters.forEach((cluster, at) => {
      const card = this.cards.get(cluster.id) ?? this.make(cluster.id);
      // Only where the order is another one: moving a card would take the focus out of it.
      if (this.list.children[at] !== card) this.list.insertBefore(card, this.list.children[at] ?? null);
      this.fill(card, cluster, cluster.rows / (mass || 1));
    });
    this.seen = ids;
    element('known-empty', HTMLDivElement).hidden = ids.size > 0;
    const all = alive?.size ?? 0;
    show(element('known-more', HTMLParagraphElement), all > ids.size ? `These are the ${ids.size} largest of ${grouped(all)} clusters.` : '');
    this.allow();
  }

  private allow(): void {
    const count = this.chosen.size;
    button('merge').disabled = count !== 2;
    button('split').disabled = count !== 1;
    button('forget').disabled = count === 0;
    button('undo').disabled = !this.learner.state?.info.undoSteps;
    for (const [id, card] of this.cards) {
      const chosen = this.chosen.has(id);
      card.classList.toggle('chosen', chosen);
      card.querySelector('.choose')!.setAttribute('aria-pressed', String(chosen));
    }
  }

  private make(id: number): HTMLLIElement {
    const card = document.createElement('li');
    card.dataset['id'] = String(id);
    if (this.seen.size && !this.seen.has(id)) card.classList.add('young');
    const image = made('canvas', { width: 112, height: 112 });
    const choose = made('button', { className: 'choose', type: 'button', ariaPressed: 'false', ariaLabel: `Choose cluster ${id}`, draggable: true }, image);
    const name = made('input', { className: 'name', maxLength: 31, placeholder: 'name it', ariaLabel: `Name of cluster ${id}`, autocomplete: 'off' });
    card.append(
      choose,
      made('p', { className: 'id' }, markElement(id), ' ', made('b', {}, String(id)), ' ', made('span', { className: 'part' })),
      name,
      made('p', { className: 'small age' }),
    );
    choose.onclick = () => {
      if (!this.chosen.delete(id)) this.chosen.add(id);
      this.allow();
    };
    choose.ondragstart = (event) => event.dataTransfer?.setData('application/x-cluster', String(id));
    card.ondragover = (event) => {
      if (event.dataTransfer?.types.includes('application/x-cluster')) event.preventDefault();
    };
    card.ondrop = (event) => {
      const other = Number(event.dataTransfer?.getData('application/x-cluster'));
      if (!other || other === id) return;
      event.preventDefault();
      this.merge(id, other);
    };
    name.onchange = () =>
      void this.correct(async () => {
        await this.learner.correct((model) => model.label(id, name.value.trim()));
        return name.value.trim() ? `Cluster ${id} is called ${name.value.trim()}.` : `Cluster ${id} has no name.`;
      });
    this.cards.set(id, card);
    return card;
  }

  private fill(card: HTMLLIElement, cluster: Known, part: number): void {
    drawAlone(card.querySelector('canvas')!, cluster.prototype);
    card.querySelector('.part')!.textContent = `${(100 * part).toFixed(0)} %`;
    card.querySelector('.age')!.textContent = `${Math.round(cluster.rows)} rows, since stream ${Math.max(1, cluster.bornStream)}`;
    const name = card.querySelector<HTMLInputElement>('.name')!;
    if (document.activeElement !== name) name.value = cluster.name;
  }
}
