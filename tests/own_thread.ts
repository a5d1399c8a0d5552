/**
 * The CPU's worker computes in the thread of each test file that imports this, as in a page that may share no memory: most
 * tests compute for a millisecond, and a thread takes forty to start. For tests of one worker whose subject is no thread.
 *
 * @module
 */
delete (globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer;
