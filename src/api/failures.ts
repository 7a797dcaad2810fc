/**
 * Everything that can go wrong, under one name each: the `type` of an ApplicationFailure, the `reason` of a status
 * condition, a field in the log and a heading in docs/failures.md. `retryable` says whether asking again could help.
 */
export const failures = {
  // A model refused, was busy, or could not be reached.
  ModelRateLimited: { retryable: true },
  ModelUnavailable: { retryable: true },
  ModelUnreachable: { retryable: true },
  ModelTimeout: { retryable: true },
  ModelQuotaExceeded: { retryable: false },
  ModelBadRequest: { retryable: false },
  ModelNotFound: { retryable: false },
  ModelUnauthorized: { retryable: false },
  ModelContextLength: { retryable: false },
  ModelReplyInvalid: { retryable: false },

  // A tool refused, was busy, or could not be reached.
  ToolRateLimited: { retryable: true },
  ToolUnavailable: { retryable: true },
  ToolUnreachable: { retryable: true },
  ToolTimeout: { retryable: true },
  ToolRejected: { retryable: false },
  ToolNotFound: { retryable: false },
  ToolArgumentsInvalid: { retryable: false },
  ToolUncertain: { retryable: false },
  ToolFilterFailed: { retryable: false },

  // An evaluator refused, was busy, or could not be reached.
  EvaluatorUnavailable: { retryable: true },
  EvaluatorRejected: { retryable: false },

  // The answer does not have the shape the agent's outputSchema asks for.
  OutputInvalid: { retryable: false },

  // An execution engine or an A2A server refused, was busy, or could not be reached.
  EngineUnavailable: { retryable: true },
  EngineRejected: { retryable: false },

  // A memory refused, was busy, or could not be reached.
  MemoryUnavailable: { retryable: true },
  MemoryRejected: { retryable: false },

  // What a call needs could not be read.
  SecretUnavailable: { retryable: false },
  KubernetesUnavailable: { retryable: true },
  TranscriptUnavailable: { retryable: true },
  TemplateInvalid: { retryable: false },
  PayloadTooLarge: { retryable: false },
  ValueInvalid: { retryable: false },

  // A bound was met.
  TeamTurnLimit: { retryable: false },
  ToolRoundLimit: { retryable: false },
  TargetTimeout: { retryable: false },
  CallTimeout: { retryable: true },

  // The resources cannot be run as they are.
  QueryInvalid: { retryable: false },
  DefinitionInvalid: { retryable: false },
  DefinitionNotFound: { retryable: false },
  AccessDenied: { retryable: false },
  TeamCycle: { retryable: false },
  TeamEmpty: { retryable: false },
  MemberNotFound: { retryable: false },
  SnapshotTooLarge: { retryable: false },

  // The run itself ended from outside, or the code is wrong.
  RunCanceled: { retryable: false },
  RunTerminated: { retryable: false },
  RunTimedOut: { retryable: false },
  RunLost: { retryable: false },
  InternalError: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type FailureType = keyof typeof failures;
