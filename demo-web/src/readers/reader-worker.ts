/** Files are read here, so that the page stays alive however large they are. */
import { readFiles, readText, type Found } from './read';

export type Question = File[] | string;
export type Answer = { found: Found } | { error: string };

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  try {
    const found: Found = typeof data === 'string' ? readText(data) : await readFiles(data);
    const buffer = 'table' in found ? found.table.rows.buffer : found.model.buffer;
    postMessage({ found } satisfies Answer, { transfer: [buffer] });
  } catch (error) {
    postMessage({ error: (error as Error).message } satisfies Answer);
  }
});
