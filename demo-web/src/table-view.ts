/** A chart's data as a table, behind a button in the chart's head. */
export interface Table {
  caption: string;
  heads: string[];
  rows: (string | number)[][];
}

const LEAST_PAUSE = 1000; // milliseconds between two fillings of an open table

export class TableView {
  private readonly button = document.createElement('button');
  private readonly box = document.createElement('div');
  private filled = 0;
  private waiting = 0;

  /** `head` gets the button, the table comes after `chart`; `make` is asked only while the table is open. */
  constructor(
    head: Element,
    chart: Element,
    private readonly make: () => Table,
  ) {
    const { button, box } = this;
    const name = head.querySelector('h2, h3')?.textContent ?? '';
    box.id = `${chart.id}-table`;
    box.className = 'table-box';
    box.tabIndex = 0; // it scrolls, also by keys
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', `${name}: table`);
    box.hidden = true;
    button.type = 'button';
    button.className = 'table-button';
    button.textContent = 'Table';
    button.setAttribute('aria-label', `Table: ${name}`);
    button.setAttribute('aria-expanded', 'false');
    button.setAttribute('aria-controls', box.id);
    button.onclick = () => {
      box.hidden = !box.hidden;
      button.setAttribute('aria-expanded', String(!box.hidden));
      if (!box.hidden) this.fill();
    };
    head.append(button);
    chart.after(box);
  }

  /** The data are other ones. */
  changed(): void {
    if (this.box.hidden || this.waiting) return;
    const pause = Math.max(0, this.filled + LEAST_PAUSE - performance.now());
    this.waiting = window.setTimeout(() => this.fill(), pause);
  }

  private fill(): void {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.filled = performance.now();
    const { caption, heads, rows } = this.make();
    const table = document.createElement('table');
    table.createCaption().textContent = caption;
    const top = table.createTHead().insertRow();
    for (const head of heads) {
      const cell = document.createElement('th');
      cell.scope = 'col';
      cell.textContent = head;
      top.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((value, at) => {
        const cell = document.createElement(at === 0 ? 'th' : 'td');
        if (at === 0) (cell as HTMLTableCellElement).scope = 'row';
        cell.textContent = String(value);
        line.append(cell);
      });
    }
    const { scrollTop } = this.box;
    this.box.replaceChildren(table);
    this.box.scrollTop = scrollTop;
  }
}
