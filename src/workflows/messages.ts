import { defineQuery } from '@temporalio/workflow';
import type { DefinitionAnswer, TranscriptPage } from '../api/run.ts';
import type { Hash } from '../api/snapshot.ts';

/** What activities and people may ask a run. Neither answer changes it. */
export const transcriptQuery = defineQuery<TranscriptPage, [from: number, to: number]>('transcript');
export const definitionQuery = defineQuery<DefinitionAnswer, [hash: Hash]>('definition');
