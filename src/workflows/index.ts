import { setWorkflowOptions } from '@temporalio/workflow';
import { evaluationWorkflow } from './evaluation-workflow.ts';
import { queryWorkflow } from './query-workflow.ts';
import { teamWorkflow } from './team-workflow.ts';

// A bug fails the Query visibly, and a re-run with better code heals it; by default it would retry for ever, unseen.
const bugsFail = { failureExceptionTypes: [TypeError, RangeError, ReferenceError] };
setWorkflowOptions(bugsFail, queryWorkflow);
setWorkflowOptions(bugsFail, teamWorkflow);
setWorkflowOptions(bugsFail, evaluationWorkflow);

export { evaluationWorkflow, queryWorkflow, teamWorkflow };
