/**
 * Ids of traces and spans are made of what every process knows already, so that nothing travels with a run: the trace of
 * a Query, or of an Evaluation, is its uid.
 */
import { createHash } from 'node:crypto';

/** 32 hexadecimal digits: the uid without its dashes. */
export function traceIdOf(uid: string): string {
  const digits = uid.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits) && !/^0+$/.test(digits) ? digits : digest(uid).slice(0, 32);
}

/** 16 hexadecimal digits: the span of a target, by its place among the targets of its Query. */
export const targetSpanIdOf = (uid: string, index: number): string => digest(`${uid}/${index}`).slice(0, 16);

/** Of `query:<namespace>:<name>:<uid>`, `evaluation:<namespace>:<name>:<uid>` or `team:<namespace>:<uid>:<path>`. */
export function uidIn(workflowId: string): string {
  const parts = workflowId.split(':');
  return (parts[0] === 'team' ? parts[2] : parts.at(-1)) ?? workflowId;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
