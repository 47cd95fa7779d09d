/** What can be taken away: a link, the settings as code, a report. */
import type { Options } from 'adapvae';
import { button, download, element } from './dom';
import { programs } from './code';
import { scoreStreams, type Played } from './history';
import type { Learner } from './learner';
import type { Source } from './player';

export interface Shared {
  /** Of the model that learns now, without sensitivity; null: it came from a file and has its own. */
  options: Options | null;
  sensitivity: number;
  /** The address that plays the same again; null: the rows are the person's own. */
  link: string | null;
  played: readonly Played[];
  /** The streams once more, from the first one. */
  source: () => Promise<Source>;
  title: string;
}

export class ShareView {
  private readonly note = element('share-note', HTMLParagraphElement);
  private readonly dialog = element('code-dialog', HTMLDialogElement);
  private readonly tabs = element('code-tabs', HTMLDivElement);
  private readonly text = element('code-text', HTMLPreElement);

  constructor(
    private readonly learner: Learner,
    private readonly shared: () => Shared,
  ) {
    button('copy-link').onclick = () => void this.copyLink();
    button('copy-code').onclick = () => this.openCode();
    button('save-report').onclick = () => void this.saveReport();
    button('code-close').onclick = () => this.dialog.close();
    button('code-copy').onclick = () =>
      void this.copy(this.text.textContent!, 'The program is copied.', element('code-note', HTMLParagraphElement));
    this.dialog.onclick = (event) => {
      if (event.target === this.dialog) this.dialog.close(); // beside it
    };
    this.tabs.onkeydown = (event) => {
      const all = [...this.tabs.querySelectorAll('button')];
      const at = all.findIndex((tab) => tab.ariaSelected === 'true');
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = all[(to + all.length) % all.length]!;
      next.click();
      next.focus();
    };
  }

  private async copy(text: string, said: string, place = this.note): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      place.textContent = said;
    } catch {
      place.textContent = `The browser does not let the page copy. Here it is: ${text}`;
    }
  }

  private async copyLink(): Promise<void> {
    const { link } = this.shared();
    if (!link)
      this.note.textContent =
        'Own rows and opened models do not leave this page, so no link can bring them back. Save the model instead.';
    else await this.copy(link, 'The link is copied. It plays the same streams with the same seed and sensitivity, up to here.');
  }

  private openCode(): void {
    const { options, sensitivity } = this.shared();
    if (!options) {
      this.note.textContent =
        'This model came from a file, which has its settings. Load that: adapvae_create_from() in C, AdapVAE.load() in JavaScript.';
      return;
    }
    const all = programs(this.learner.inputs, { ...options, sensitivity });
    const show = (at: number): void => {
      this.text.textContent = all[at]!.text;
      this.text.setAttribute('aria-labelledby', `code-tab-${at}`);
      element('code-note', HTMLParagraphElement).textContent = '';
      [...this.tabs.children].forEach((tab, i) => {
        tab.ariaSelected = String(i === at);
        (tab as HTMLElement).tabIndex = i === at ? 0 : -1;
      });
    };
    this.tabs.replaceChildren(
      ...all.map(({ language }, at) => {
        const tab = document.createElement('button');
        tab.type = 'button';
        tab.id = `code-tab-${at}`;
        tab.role = 'tab';
        tab.textContent = language;
        tab.setAttribute('aria-controls', 'code-text');
        tab.onclick = () => show(at);
        return tab;
      }),
    );
    show(0);
    this.dialog.showModal();
  }

  private async saveReport(): Promise<void> {
    try {
      const { learner } = this;
      const { source, ...shared } = this.shared();
      const [{ reportPage }, score] = await Promise.all([
        import('./report'),
        scoreStreams(learner, await source(), shared.played.length),
      ]);
      const made = `Made ${new Date().toLocaleString('en', { dateStyle: 'long', timeStyle: 'short' })} by the browser demo`;
      download('adapvae-report.html', reportPage({ ...shared, made, learner, score }));
      this.note.textContent = 'The report is saved: one file, which needs no network.';
    } catch (error) {
      this.note.textContent = `No report: ${(error as Error).message}`;
    }
  }
}
