/** Every cluster has a colour and a shape, so that colour is never the only sign. */
import { drawn } from './dom';

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b58900', '#56a3d9', '#7a5cc7', '#8c6d4f'];
const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'ring'] as const;
export type Shape = (typeof SHAPES)[number];

export const colourOf = (id: number): string => COLOURS[(id - 1 + COLOURS.length) % COLOURS.length]!;
export const shapeOf = (id: number): Shape => SHAPES[(id - 1 + SHAPES.length) % SHAPES.length]!;

export function drawMark(context: CanvasRenderingContext2D, id: number, x: number, y: number, size: number): void {
  context.fillStyle = context.strokeStyle = colourOf(id);
  context.beginPath();
  switch (shapeOf(id)) {
    case 'square':
      context.rect(x - size, y - size, 2 * size, 2 * size);
      break;
    case 'triangle':
      context.moveTo(x, y - 1.2 * size);
      context.lineTo(x + 1.2 * size, y + size);
      context.lineTo(x - 1.2 * size, y + size);
      break;
    case 'diamond':
      context.moveTo(x, y - 1.4 * size);
      context.lineTo(x + 1.4 * size, y);
      context.lineTo(x, y + 1.4 * size);
      context.lineTo(x - 1.4 * size, y);
      break;
    default:
      context.arc(x, y, 1.1 * size, 0, 2 * Math.PI);
  }
  if (shapeOf(id) === 'ring') context.stroke();
  else context.fill();
}

type Drawing = [tag: string, attributes: Record<string, string | number>];
function drawingOf(id: number): Drawing {
  const fill = colourOf(id);
  return (
    {
      circle: ['circle', { cx: 8, cy: 8, r: 6, fill }],
      square: ['rect', { x: 3, y: 3, width: 10, height: 10, fill }],
      triangle: ['path', { d: 'M8 2l6.5 12h-13z', fill }],
      diamond: ['path', { d: 'M8 1l7 7-7 7-7-7z', fill }],
      ring: ['circle', { cx: 8, cy: 8, r: 5, fill: 'none', stroke: fill, 'stroke-width': 3 }],
    } satisfies Record<Shape, Drawing>
  )[shapeOf(id)];
}
const frameOf = (className: string) => ({ class: className, width: 14, height: 14, viewBox: '0 0 16 16', 'aria-hidden': 'true' });

/** The same as an element. */
export const markElement = (id: number): SVGElement => drawn('svg', frameOf('mark'), drawn(...drawingOf(id)));

/** The same as markup, for a report. */
export function markSvg(id: number, className: string): string {
  const listed = (attributes: Record<string, string | number>): string => Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`).join('');
  const [tag, attributes] = drawingOf(id);
  return `<svg${listed(frameOf(className))}><${tag}${listed(attributes)}/></svg>`;
}
