/** The element with this id, of the class that the page gives it. */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return found;
}
export const button = (id: string): HTMLButtonElement => element(id, HTMLButtonElement);
export const canvas = (id: string): HTMLCanvasElement => element(id, HTMLCanvasElement);

/** A new element. Text that comes from files is given as a child: it is never read as markup. */
export function made<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
/** The same of a drawing. */
export function drawn(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function show(target: HTMLElement, text: string): void {
  target.textContent = text;
  target.hidden = text === '';
}

/** 12,345. The browser's own formatter takes 30 ms when it is first asked. */
export const grouped = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');

/** Saves a file, as if a person had followed a link to it. */
export function download(name: string, content: BlobPart): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Said to readers of screens, once. */
export function announce(text: string): void {
  element('live', HTMLDivElement).textContent = text;
}

export const lessMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A value of the style sheet, which knows light and dark. */
export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** The canvas's context, in CSS pixels, with as many real pixels as the screen has. */
export function fitted(target: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const { clientWidth: width, clientHeight: height } = target;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (target.width !== w) target.width = w;
  if (target.height !== h) target.height = h;
  const context = target.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
