/**
 * What is in flight, and what of it may come out next. An entry is a record with its results, once
 * it has any, or a fence: a watermark or a status, which nothing crosses.
 */

/** Everything comes out in the order in which it came in. */
export class Ordered {
  #entries = [];

  add(entry) {
    this.#entries.push(entry);
  }

  /** The results of a record are there. */
  finish() {}

  /** Whether something may come out. */
  get isReady() {
    const [head] = this.#entries;
    return Boolean(head && (head.fence || head.results));
  }

  /** The next entry that may come out, which is none of ours any more; undefined for none. */
  shift() {
    return this.isReady ? this.#entries.shift() : undefined;
  }
}

/** What lies between two fences. */
class Segment {
  finished = [];
  size = 0;
  fence = undefined; // the one behind it
}

/** Records come out as they are finished, but never cross a fence. */
export class Unordered {
  segments = [new Segment()];

  add(entry) {
    const last = this.segments.at(-1);
    if (entry.fence) {
      last.fence = entry;
      this.segments.push(new Segment());
    } else {
      last.size += 1;
      entry.segment = last;
    }
  }

  finish(entry) {
    entry.segment.finished.push(entry);
  }

  get isReady() {
    const [first] = this.segments;
    return first.finished.length > 0 || Boolean(first.size === 0 && first.fence);
  }

  shift() {
    if (!this.isReady) return undefined;
    const [first] = this.segments;
    if (first.finished.length === 0) return this.segments.shift().fence;
    first.size -= 1;
    return first.finished.shift();
  }
}
