/** The message of an ended run, to send it again. */
import { type Actor, isSvcError, type JournalRun, type OptionalHandle } from '@svc/api';
import type { Entry, Part, SessionsService } from '@svc/ext-sessions/contract';
import { bringPictures } from '../attachments.js';
import type { RunDraft, UploadsService } from '../contract.js';
import { runErrors } from '../errors.js';
import { inputOf, type RunInput } from '../run-input.js';

interface RetryDeps {
  readonly sessions: Pick<SessionsService, 'entries'>;
  readonly uploads: OptionalHandle<UploadsService>;
}

/** What others may have added to the session while the message was appended. */
const MAX_LOOKED_AT = 100;

/** Throws `run_input_gone`, or `upload_not_found` for a picture that is. */
export async function messageOf(deps: RetryDeps, owner: Actor, run: JournalRun): Promise<readonly Part[]> {
  const input = inputOf(run);
  const parts = input.beside ? undefined : (input.parts ?? (await entryOf(deps, owner, run.id, input))?.parts);
  if (!parts) throw runErrors.input_gone(run.id);
  const attachments = parts.flatMap(({ type, file }) => (type === 'image' && file ? [{ fileId: file.id }] : []));
  if (attachments.length > 0) await bringPictures(deps.uploads, owner, { ...draftAgain(input, parts, ''), attachments });
  return parts;
}

/** The message as it was sent, with what it was sent with. */
export const draftAgain = (input: RunInput, parts: readonly Part[], key: string): RunDraft => {
  const { agentId, sessionId, origin, via, systemExtra, maxTokens, temperature, parameters, thinking, showThinking, tools } = input;
  return {
    agentId,
    sessionId,
    door: 'rest',
    key,
    parts: [...parts],
    ...(via === undefined ? {} : { via }),
    ...(origin === undefined ? {} : { origin }),
    ...(systemExtra === undefined ? {} : { systemExtra }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(parameters === undefined ? {} : { parameters }),
    ...(tools === undefined ? {} : { tools }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(showThinking === undefined ? {} : { showThinking }),
  };
};

const entryOf = async ({ sessions }: RetryDeps, owner: Actor, runId: string, { sessionId, said }: RunInput): Promise<Entry | undefined> => {
  if (!said) return undefined;
  try {
    const entries = await sessions.entries(owner, sessionId, { after: said.from - 1, limit: MAX_LOOKED_AT });
    return entries.find((entry) => entry.kind === 'user' && entry.runId === runId);
  } catch (error) {
    if (isSvcError(error) && error.code === 'session_not_found') return undefined;
    throw error;
  }
};
