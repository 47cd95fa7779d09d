/** What was read, before it is learnt: its first rows, which columns, how they are scaled. */
import { button, element, grouped } from './dom';
import { bestScaling, inUnit, ownChoice, rowsOf, type Scaling, type Settings } from './own';
import { drawAlone, drawnAs } from './picture';
import { PREVIEW_ROWS, type Table } from './readers/table';
import type { Choice } from './sources';

const MOST_CHOSEN = 256; // columns that one chooses from one by one
const [SHOWN_COLUMNS, SHOWN_IMAGES] = [12, 24];
const STREAM_ROWS = 300;

/** The model that is in the page. */
export interface Here {
  inputs: number;
  rows: number;
  blockRows: number;
  standardises: boolean;
}

const short = (value: number): string => (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(4))));

export class PreviewView {
  private readonly dialog = element('preview', HTMLDialogElement);
  private readonly scaling = element('preview-scaling', HTMLSelectElement);
  private readonly streamRows = element('preview-stream', HTMLInputElement);
  private readonly goOn = element('preview-go-on', HTMLInputElement);
  private readonly note = element('preview-note', HTMLParagraphElement);
  private table: Table | null = null;
  private here: Here | null = null;
  private name = '';
  private boxes: { input: HTMLInputElement; at: number }[] = [];

  constructor(private readonly learn: (choice: Choice, goOn: boolean) => void) {
    button('preview-cancel').onclick = () => this.dialog.close();
    this.dialog.onclose = () => (this.table = null);
    element('preview-form', HTMLFormElement).onsubmit = (event) => {
      event.preventDefault();
      if (!this.table) return;
      const choice = ownChoice(this.table, this.name, this.settings(this.table));
      const goOn = this.goOn.checked;
      this.dialog.close();
      this.learn(choice, goOn);
    };
    button('preview-all').onclick = () => this.tick(true);
    button('preview-no').onclick = () => this.tick(false);
    this.goOn.onchange = () => this.check();
    this.scaling.onchange = () => this.table?.image && this.showRows(this.table);
    this.streamRows.oninput = () => this.check();
  }

  show(table: Table, name: string, here: Here): void {
    [this.table, this.name, this.here] = [table, name, here];
    element('preview-title', HTMLHeadingElement).textContent = name;
    const words = table.columns.filter(({ at }) => at < 0).length;
    const what = table.image ? `images of ${table.image.width} × ${table.image.height}` : `${table.width} ${table.width === 1 ? 'number' : 'numbers'}`;
    element('preview-facts', HTMLParagraphElement).textContent =
      `${grouped(table.count)} rows of ${what}${words ? ` and ${words} of words` : ''}. ${table.note}`;
    this.scaling.value = bestScaling(table);
    this.showColumns(table);
    this.streamRows.value = String(Math.min(STREAM_ROWS, table.count));
    this.streamRows.max = String(Math.min(5000, table.count));
    this.goOn.checked = false;
    this.showRows(table);
    this.check();
    if (!this.dialog.open) this.dialog.showModal();
  }

  private settings(table: Table): Settings {
    return { columns: this.columns(table), scaling: this.scaling.value as Scaling, streamRows: Number(this.streamRows.value) };
  }

  /** Places of what is chosen. */
  private columns(table: Table): number[] {
    return this.boxes.length ? this.boxes.filter(({ input }) => input.checked).map(({ at }) => at) : Array.from({ length: table.width }, (_, at) => at);
  }

  private tick(on: boolean): void {
    for (const { input } of this.boxes) input.checked = on;
    this.check();
  }

  /** What can be learnt in this way, said before it is tried. */
  private check(): void {
    const { table, here } = this;
    if (!table || !here) return;
    const count = this.columns(table).length;
    const fits = here.rows > 0 && here.inputs === count;
    element('preview-go-on-label', HTMLLabelElement).hidden = !fits;
    if (!fits) this.goOn.checked = false;
    const goesOn = this.goOn.checked;
    // A model that goes on scales as it did before.
    if (goesOn && here.standardises) this.scaling.value = 'standardise';
    else if (goesOn && this.scaling.value === 'standardise') this.scaling.value = inUnit(table) ? 'none' : 'range';
    for (const option of this.scaling.options) option.disabled = goesOn && (option.value === 'standardise') !== here.standardises;
    const most = goesOn ? Math.min(here.blockRows, Number(this.streamRows.max)) : Number(this.streamRows.max);
    if (goesOn && Number(this.streamRows.value) > most) this.streamRows.value = String(most);
    const rows = Number(this.streamRows.value);
    const trouble =
      count === 0
        ? 'Choose at least one column.'
        : !Number.isInteger(rows) || rows < 1 || rows > most
          ? `Rows of a stream: a whole number from 1 to ${most}.`
          : table.count < 20
            ? 'So few rows may give no cluster but one.'
            : '';
    this.note.textContent = trouble || `${count} ${count === 1 ? 'number' : 'numbers'} a row, ${Math.ceil(table.count / rows)} ${table.count > rows ? 'streams' : 'stream'}.`;
    button('preview-learn').disabled = count === 0 || /whole number/.test(trouble);
  }

  private showRows(table: Table): void {
    const box = element('preview-rows', HTMLDivElement);
    box.replaceChildren();
    const kept = table.columns.filter(({ at }) => at >= 0);
    if (table.image) {
      drawnAs({ kind: 'image', ...table.image }, () => {
        const shown = Math.min(SHOWN_IMAGES, table.count);
        const rows = rowsOf(table, this.settings(table), 0, shown);
        for (let row = 0; row < shown; ++row) {
          const picture = document.createElement('canvas');
          picture.width = picture.height = 56;
          drawAlone(picture, rows.subarray(row * table.width, (row + 1) * table.width));
          picture.setAttribute('role', 'img');
          picture.setAttribute('aria-label', `Row ${row + 1}`);
          box.append(picture);
        }
      });
      return;
    }
    const grid = document.createElement('table');
    const head = grid.createTHead().insertRow();
    const columns = table.columns.slice(0, SHOWN_COLUMNS);
    const cell = (row: HTMLTableRowElement, kind: 'th' | 'td', text: string): void => {
      const made = document.createElement(kind);
      made.textContent = text;
      if (kind === 'th') made.scope = row === head ? 'col' : 'row';
      row.append(made);
    };
    cell(head, 'th', 'row');
    for (const { name } of columns) cell(head, 'th', name);
    const more = table.columns.length - columns.length;
    if (more) cell(head, 'th', `${more} more`);
    const body = grid.createTBody();
    for (let row = 0; row < Math.min(PREVIEW_ROWS, table.count); ++row) {
      const line = body.insertRow();
      cell(line, 'th', String(row + 1));
      for (const { at, words } of columns) cell(line, 'td', at < 0 ? (words[row] ?? '') : short(table.rows[row * kept.length + at]!));
      if (more) cell(line, 'td', '…');
    }
    box.append(grid);
  }

  private showColumns(table: Table): void {
    const field = element('preview-columns', HTMLFieldSetElement);
    const list = element('preview-column-list', HTMLDivElement);
    list.replaceChildren();
    this.boxes = [];
    field.hidden = table.image !== null || table.columns.length < 2 || table.columns.length > MOST_CHOSEN;
    if (field.hidden) return;
    for (const { name, at, low, high } of table.columns) {
      const label = document.createElement('label');
      const input = document.createElement('input');
      input.type = 'checkbox';
      input.checked = at >= 0;
      input.disabled = at < 0;
      input.onchange = () => this.check();
      const title = document.createElement('span');
      title.textContent = name;
      const why = document.createElement('small');
      why.textContent = at < 0 ? 'words, not numbers' : low === high ? `always ${short(low)}` : `${short(low)} to ${short(high)}`;
      label.append(input, title, why);
      list.append(label);
      if (at >= 0) this.boxes.push({ input, at });
    }
  }
}
