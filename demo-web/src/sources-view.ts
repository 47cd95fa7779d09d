/** The choice of what streams in. */
import { element } from './dom';
import { CHOICES, type Choice } from './sources';

export class SourcesView {
  private readonly box = element('sources', HTMLDivElement);
  private readonly inputs = new Map<string, HTMLInputElement>();
  private own: Choice | null = null;

  constructor(private readonly chosen: (choice: Choice) => void) {
    for (const choice of CHOICES) this.offer(choice);
    this.show(CHOICES[0]!);
  }

  /** One more, or another in the place of that with its id. */
  private offer(choice: Choice): void {
    this.inputs.get(choice.id)?.parentElement?.remove();
    const label = document.createElement('label');
    const input = document.createElement('input');
    Object.assign(input, { type: 'radio', name: 'source', value: choice.id });
    input.onchange = () => this.chosen(choice);
    const title = document.createElement('span');
    title.textContent = choice.title;
    label.append(input, title);
    this.box.append(label);
    this.inputs.set(choice.id, input);
  }

  /** This is what streams in now. */
  show(choice: Choice): void {
    if (!CHOICES.includes(choice) && this.own !== choice) this.offer((this.own = choice));
    this.inputs.get(choice.id)!.checked = true;
    element('lead', HTMLParagraphElement).textContent = choice.lead;
    document.body.dataset['source'] = choice.id;
  }

  /** Nothing does. */
  none(lead: string): void {
    for (const input of this.inputs.values()) input.checked = false;
    element('lead', HTMLParagraphElement).textContent = lead;
    document.body.dataset['source'] = '';
  }
}
