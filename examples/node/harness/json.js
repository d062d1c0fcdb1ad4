/**
 * JSON in which every number stays as it is written: whole numbers have 64 bits in the suite, and
 * 1.0 is another value there than 1.
 */

/** A number that JavaScript would write in another way. */
class Written {
  constructor(text) {
    this.text = text;
  }

  valueOf() {
    return Number(this.text);
  }

  toJSON() {
    return `${MARK}${this.text}`;
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const ODD = /\d{16}|\d[.eE]|-0/;
const MARK = '\u{F0000}n';
const MARKED = new RegExp(`"${MARK}([-+.eE\\d]+)"`, 'g');

export function parse(text) {
  if (!ODD.test(text)) return JSON.parse(text);
  const isPlain = (token) => token[0] === '"' || String(Number(token)) === token;
  const marked = text.replace(TOKEN, (token) => (isPlain(token) ? token : `"${MARK}${token}"`));
  return JSON.parse(marked, (_, part) => {
    const isMarked = typeof part === 'string' && part.startsWith(MARK);
    return isMarked ? new Written(part.slice(MARK.length)) : part;
  });
}

export function stringify(value, replacer) {
  const text = JSON.stringify(value, replacer);
  return text.includes(MARK) ? text.replace(MARKED, '$1') : text;
}
