/** Reads in a worker of its own; a later question ends an earlier one. */
import type { Answer, Question } from './reader-worker';
import type { Found } from './read';
import { ReadError } from './table';

let busy: Worker | null = null;

export function read(question: Question): Promise<Found> {
  busy?.terminate();
  const worker = new Worker(new URL('./reader-worker.ts', import.meta.url), { type: 'module' });
  busy = worker;
  return new Promise<Found>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      worker.terminate();
      if ('found' in data) resolve(data.found);
      else reject(new ReadError(data.error));
    };
    worker.onerror = () => reject(new ReadError('it could not be read: the reader of this page did not start'));
    worker.postMessage(question);
  });
}
