// Parts of the page that run without one.
export { readBytes } from '../src/readers/read';
export { CHOICES } from '../src/sources';
