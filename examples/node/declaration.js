/** What the operator of this folder has, and what a program in JavaScript can't do or does without. */
export const DECLARATION = {
  profiles: ['ordered', 'unordered', 'timeouts', 'retry', 'batches', 'event-time'],
  lacks: ['one-loop', 'attempt-timeout'],
};
