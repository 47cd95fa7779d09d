/** The moment in which a cluster is born, with its reason. */
import { announce, canvas, element, lessMotion } from './dom';
import { CHANGES, reasonOf, told } from './event-words';
import { drawAlone } from './picture';
import type { Learnt, Learner } from './learner';

export class BirthView {
  private readonly box = element('birth', HTMLDivElement);
  private readonly title = element('birth-title', HTMLHeadingElement);
  private readonly text = element('birth-reason', HTMLParagraphElement);
  private readonly image = canvas('birth-image');

  constructor(private readonly learner: Learner) {
    this.clear();
  }

  clear(): void {
    drawAlone(this.image, null);
    this.title.textContent = 'No cluster yet';
    this.text.textContent = 'Clusters are born when a stream has been learnt.';
    this.box.classList.remove('born', 'moment');
  }

  /** Another stream comes in: what is there is the past. */
  began(): void {
    if (!this.box.classList.contains('born')) return;
    this.box.classList.remove('born', 'moment');
    this.title.textContent = this.title.textContent!.replace('is born', 'was born').replace('are born', 'were born');
  }

  learnt({ events, report }: Learnt, streamNumber: number): void {
    const births = events.filter(({ type }) => type === 'born');
    const youngest = births.at(-1);
    this.box.classList.toggle('born', births.length > 0);
    this.box.classList.remove('moment');
    if (youngest) {
      if (streamNumber === 1) this.title.textContent = `It found ${report.clusters} clusters by itself`;
      else this.title.textContent = births.length > 1 ? `${births.length} clusters are born` : `Cluster ${youngest.id} is born`;
      this.text.textContent = reasonOf(youngest);
      drawAlone(this.image, this.learner.find(youngest.id)?.prototype ?? null);
      if (!lessMotion()) requestAnimationFrame(() => this.box.classList.add('moment'));
    } else {
      this.title.textContent = 'Nothing was born';
      const refusal = events.find(({ type }) => type === 'not_born');
      this.text.textContent = refusal ? reasonOf(refusal) : 'The stream was learnt; its rows belong to what is known.';
    }
    const said = events.filter(({ type }) => CHANGES.has(type)).map(told);
    if (said.length) announce(said.join(' '));
  }
}
