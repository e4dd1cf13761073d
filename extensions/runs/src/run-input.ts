/** What a run's row keeps of its request, and what its steps keep of their outcome. Content itself lives in session entries. */
import type { JournalRun, JournalStep, Origin, ToolStatus } from '@svc/api';
import type { Attempt, Parameters } from '@svc/ext-llm/contract';
import type { Part } from '@svc/ext-sessions/contract';
import type { Channel, ClientTools, RunDraft, RunResult, Via } from './contract.js';

export const RUN_KIND = 'agent';
/** A command that was answered at once. */
export const COMMAND_KIND = 'command';
export interface RunInput {
  readonly agentId: string;
  readonly sessionId: string;
  readonly door: Channel;
  readonly via?: Via;
  /** When its root began, where no person began that. */
  readonly rootSince?: string;
  readonly depth: number;
  /** Set where the run ends when nobody watches it (unwatched.ts). */
  readonly unwatched?: 'cancel';
  /** The message, until the first commit of the run has made it a session entry. */
  readonly parts?: readonly Part[];
  /** Set once the message is an entry of the conversation: none before `from`. */
  readonly said?: { readonly from: number; readonly words: string };
  /** What other areas put into the prompt, asked once. Not of an incognito message. */
  readonly prompt?: KeptPrompt;
  /** The ended run that a person had done again. */
  readonly retryOf?: string;
  /** What a stateless request says was said before, until the same commit. */
  readonly history?: RunDraft['history'];
  readonly systemExtra?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly parameters?: Parameters;
  /** Tools that the sender runs, and who may answer their calls. */
  readonly clientTools?: ClientTools;
  readonly clientOf?: string;
  /** Of the tools of the agent, only these. */
  readonly tools?: readonly string[];
  readonly thinking?: boolean;
  readonly showThinking?: boolean;
  /** Where the message came from, if not from the agent's owner in this conversation. */
  readonly origin?: Origin;
  /** Set for a message beside the conversation: `sessionId` is then one of its own, which goes when the run ends. */
  readonly beside?: Beside;
}

/** What the answers of other areas made of the prompt. */
export interface KeptPrompt {
  /** In place of the instructions of the manifest, and what that is known by. */
  readonly base?: string;
  readonly source?: string;
  /** What follows the base. */
  readonly added?: string;
  /** Where somebody changed the base itself. */
  readonly whole?: string;
}

/** What `submit` stored with a run of this area. */
export const inputOf = ({ input }: Pick<JournalRun, 'input'>): RunInput => input as RunInput;

/** What `finish` stored with it; null while it goes on, and when it had no answer. */
export const answerOf = ({ result }: Pick<JournalRun, 'result'>): RunResult | null => result as RunResult | null;

/** The words of a message, without its files; how it begins where only that is left. */
export const messageOf = ({ parts, said }: RunInput): string => (parts ? parts.flatMap((part) => (part.type === 'text' && !part.file ? [part.text] : [])).join('\n') : (said?.words ?? ''));

const MAX_WORDS = 300;

/** How the message begins; the names of its files where it has no words. Nothing of what is not stored with a conversation. */
export const wordsOf = ({ parts = [], said, beside }: RunInput): string => {
  if (beside) return '';
  if (said) return said.words;
  const words = parts.flatMap((part) => (part.type === 'text' && !part.file ? [part.text] : [])).join('\n');
  const names = () => parts.flatMap(({ file }) => (file ? [file.name] : [])).join(', ');
  return (words.trim() || names()).slice(0, MAX_WORDS);
};

export interface Beside {
  /** The conversation that it stands beside. */
  readonly sessionId: string;
  readonly kind: 'ephemeral' | 'incognito' | 'stateless';
}

export interface ModelOutcome {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  readonly provider: string;
  readonly model: string;
  readonly attempts: readonly Attempt[];
  readonly calls: number;
  /** Session entries this step wrote: after `from`, through `through`. */
  readonly from: number;
  readonly through: number;
  /** Newest frame of the topic when the step ended, and the attempt that numbered it. */
  readonly frames: number;
  readonly attempt: number;
}

/** What the model phase stored; undefined for another step, and for one that has not ended. */
export const modelOutcomeOf = ({ kind, status, outcome }: JournalStep): ModelOutcome | undefined => (kind === 'model' && status === 'done' ? (outcome as ModelOutcome) : undefined);

/** What is kept of a call that its run ended in the middle of. Rows of an older daemon have the code alone. */
export interface CutOutcome extends Partial<Pick<ModelOutcome, 'inputTokens' | 'outputTokens' | 'costMicros' | 'provider' | 'model' | 'attempts'>> {
  readonly code?: string;
}

/** Of a call that has ended, whichever way: who was asked and what it used. */
export const usedBy = (step: JournalStep): Omit<CutOutcome, 'code'> | undefined => modelOutcomeOf(step) ?? cutOutcomeOf(step);

const cutOutcomeOf = ({ kind, status, outcome }: JournalStep): CutOutcome | undefined => (kind === 'model' && status === 'failed' ? ((outcome as CutOutcome | null) ?? undefined) : undefined);

/** Tools that the model had loaded when it was asked. */
export const loadedIn = (steps: readonly JournalStep[]): readonly string[] =>
  steps.flatMap(({ kind, intent }) => (kind === 'model' ? ((intent as { readonly loaded?: readonly string[] } | null)?.loaded ?? []) : []));

/** Which model the model phase meant to ask. */
export const modelIntentOf = ({ intent }: JournalStep): Pick<ModelOutcome, 'provider' | 'model'> => intent as Pick<ModelOutcome, 'provider' | 'model'>;

export interface ToolIntent {
  readonly tool: string;
  readonly digest: string;
  /** Set when the call was refused: what the model reads instead of a result. */
  readonly denied?: string;
  /** Why it was refused, as the validator calls it. */
  readonly code?: string;
  /** It reached no tool. */
  readonly missed?: boolean;
  readonly warning?: string;
}

/** What `planCalls` stored with the step of a call. */
export const toolIntentOf = ({ intent }: JournalStep): ToolIntent => intent as ToolIntent;

export interface ToolOutcome {
  readonly status: ToolStatus;
  readonly frames: number;
  readonly attempt: number;
}

/** What the tool phase stored; null for one that has not ended. */
export const toolOutcomeOf = ({ outcome }: JournalStep): ToolOutcome | null => outcome as ToolOutcome | null;

export const toMicrosUsd = (micros: number): number => Math.round(micros) / 1_000_000;
