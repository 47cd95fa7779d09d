/** Own data and models: chosen, dropped, saved. */
import { button, download, element, show } from './dom';
import { readCsv, type Table } from './csv';
import type { Learner } from './learner';

const LARGEST_CSV = 50_000_000;

/** A model's file begins with the length of its header and a brace. */
function isModel(bytes: Uint8Array): boolean {
  return bytes.length > 9 && bytes[8] === 0x7b && bytes[7] === 0;
}

export class FilesView {
  private readonly error = element('data-error', HTMLParagraphElement);
  private readonly note = element('data-note', HTMLParagraphElement);

  constructor(
    private readonly learner: Learner,
    private readonly opened: () => void,
    private readonly read: (table: Table, name: string) => Promise<void>,
    digits: () => void,
  ) {
    const input = element('file', HTMLInputElement);
    button('choose').onclick = () => input.click();
    input.onchange = () => {
      const file = input.files?.[0];
      if (file) void this.take(file);
      input.value = '';
    };
    button('save').onclick = () => void this.save();
    button('digits').onclick = () => {
      button('digits').hidden = true;
      this.say('');
      digits();
    };
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
      const file = event.dataTransfer?.files[0];
      if (file) void this.take(file);
    });
  }

  private say(text: string): void {
    show(this.error, '');
    this.note.textContent = text;
  }

  private async take(file: File): Promise<void> {
    this.say(`Reading ${file.name} …`);
    try {
      if (file.size > LARGEST_CSV) throw new Error(`${file.size} bytes are too many for this page`);
      const bytes = new Uint8Array(await file.arrayBuffer());
      if (isModel(bytes)) {
        await this.learner.open(bytes);
        this.opened();
        const { info } = this.learner.state!;
        this.say(`${file.name}: a model of ${info.clusters} clusters that has learnt ${info.rows} rows.`);
      } else {
        const table = readCsv(new TextDecoder().decode(bytes));
        await this.read(table, file.name);
        button('digits').hidden = false;
        const without = table.leftOut.length ? `; left out, no numbers: ${table.leftOut.join(', ')}` : '';
        this.say(`${file.name}: ${table.count} rows of ${table.columns.length} numbers${without}.`);
      }
      element('data-section', HTMLElement).scrollIntoView({ block: 'nearest' });
    } catch (error) {
      this.say('');
      show(this.error, `${file.name}, ${(error as Error).message}`);
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
