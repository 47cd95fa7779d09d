/** Own data and models: chosen, dropped, pasted, saved. */
import { button, download, element, show } from './dom';
import { PreviewView, type Here } from './preview-view';
import { read } from './readers/reader';
import type { Choice } from './sources';
import type { Learner } from './learner';

export class FilesView {
  private readonly error = element('data-error', HTMLParagraphElement);
  private readonly note = element('data-note', HTMLParagraphElement);
  private readonly preview: PreviewView;
  private turn = 0;

  constructor(
    private readonly learner: Learner,
    private readonly opened: (name: string) => Promise<void>,
    private readonly here: () => Promise<Here>,
    learn: (choice: Choice, goOn: boolean) => Promise<void>,
  ) {
    this.preview = new PreviewView((choice, goOn) => {
      this.say('');
      learn(choice, goOn).then(
        () => this.say(`${choice.title}: ${choice.inputs} numbers a row${goOn ? ', learnt by the model that was here' : ''}.`),
        (error: Error) => this.fail(error.message),
      );
    });
    const input = element('file', HTMLInputElement);
    button('choose').onclick = () => input.click();
    input.onchange = () => {
      void this.take([...(input.files ?? [])]);
      input.value = '';
    };
    button('save').onclick = () => void this.save();
    const text = element('paste', HTMLTextAreaElement);
    button('paste-read').onclick = () => void this.take(text.value);
    this.listenToDrops();
    addEventListener('paste', (event) => {
      const target = event.target as Element | null;
      if (target?.closest('input, textarea, select, dialog, [contenteditable]')) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const pasted = event.clipboardData?.getData('text/plain') ?? '';
      if (files.length) void this.take(files);
      else if (/\S[\n\r\t,; ]+\S/.test(pasted)) void this.take(pasted);
      else return;
      event.preventDefault();
    });
  }

  private listenToDrops(): void {
    const drop = element('drop', HTMLDivElement);
    const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    addEventListener('dragover', (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      drop.hidden = false;
    });
    addEventListener('dragleave', (event) => {
      if (!event.relatedTarget) drop.hidden = true;
    });
    addEventListener('drop', (event) => {
      drop.hidden = true;
      if (!hasFile(event)) return;
      event.preventDefault();
      void this.take([...event.dataTransfer!.files]);
    });
  }

  private say(text: string): void {
    show(this.error, '');
    this.note.textContent = text;
  }

  private fail(text: string): void {
    this.say('');
    show(this.error, text);
    element('data-section', HTMLElement).scrollIntoView({ block: 'nearest' });
  }

  private async take(what: File[] | string): Promise<void> {
    if (typeof what !== 'string' && what.length === 0) return;
    const turn = ++this.turn;
    const name = typeof what === 'string' ? 'Pasted rows' : what.length > 1 ? `${what.length} pictures` : what[0]!.name;
    this.say(`Reading ${name} …`);
    try {
      const found = await read(what);
      if (turn !== this.turn) return;
      if ('model' in found) {
        await this.learner.open(found.model);
        await this.opened(name);
        const { info } = this.learner.state!;
        this.say(`${name}: a model of ${info.clusters} clusters that has learnt ${info.rows} rows of ${info.inputs} numbers.`);
        element('data-section', HTMLElement).scrollIntoView({ block: 'nearest' });
      } else {
        const here = await this.here();
        this.say('');
        this.preview.show(found.table, name, here);
      }
    } catch (error) {
      if (turn === this.turn) this.fail(`${name}, ${(error as Error).message}`);
    }
  }

  private async save(): Promise<void> {
    try {
      const bytes = await this.learner.save();
      download('adapvae.safetensors', bytes);
      this.say(`Saved: ${Math.round(bytes.length / 1024)} KB, ${this.learner.state?.clusters.length ?? 0} clusters.`);
    } catch (error) {
      show(this.error, (error as Error).message);
    }
  }
}
