/** From what the daemon keeps and what goes on to what is shown: one turn is what was asked, and all that a run did about it. */
import type { Beside } from './besides.js';
import type { Parting } from './versions.js';
import type { Attached, History, LiveRun, Part, SessionRun } from './live-run.js';

type Message = History['messages'][number];

export interface Turn {
  readonly key: string;
  readonly question?: {
    readonly text: string;
    readonly seq?: number;
    readonly images: NonNullable<Message['images']>;
    readonly attachments: readonly Attached[];
    /** What the model read before it. */
    readonly recalled?: NonNullable<Message['recalled']>;
    readonly at?: string;
    /** The channel that it came by, and who wrote it there. */
    readonly via?: NonNullable<Message['via']>;
  };
  readonly parts: readonly Part[];
  /** The last entry of it. */
  readonly lastSeq?: number;
  /** Known before the run itself: the runs are read by another request, which may be answered earlier. */
  readonly runId?: string;
  readonly run?: SessionRun;
  readonly live?: LiveRun;
  /** It stands beside the conversation, which keeps nothing of it; with the command that answered, or none where a model did. */
  readonly beside?: { readonly command?: string };
  /** It, or what follows the last turn, has versions. */
  readonly parting?: Parting;
  /** What the daemon itself says. */
  readonly note?: string;
  /** What a model reads in place of older messages. */
  readonly summary?: string;
}

const partsOf = (message: Message): readonly Part[] => [
  ...(message.thinking === undefined ? [] : [{ kind: 'thoughts' as const, text: message.thinking }]),
  ...(message.content === '' ? [] : [{ kind: 'text' as const, text: message.content }]),
  ...(message.tools ?? []).map(({ id, name, input, result, is_error }) => ({
    kind: 'tool' as const,
    call: { id, name, input, ...(result === undefined ? {} : { result }), ...(is_error === undefined ? {} : { isError: is_error }) },
  })),
];

const questionOf = (message: Message): NonNullable<Turn['question']> => ({
  text: message.content,
  seq: message.seq,
  images: message.images ?? [],
  attachments: message.attachments ?? [],
  ...(message.recalled === undefined ? {} : { recalled: message.recalled }),
  at: message.timestamp,
  ...(message.via === undefined ? {} : { via: message.via }),
});

/** The same while a run goes on and when it is stored: what was drawn of its answer stays. */
const keyOfRun = (runId: string): string => `run ${runId}`;

/** Messages of one run stand together; each of a person begins a turn. */
export const keptTurns = (history: History | undefined, sessionRuns: readonly SessionRun[]): readonly Turn[] => {
  const runs = new Map(sessionRuns.map((run) => [run.run_id, run]));
  const turns: Turn[] = [];
  const begun = new Set<string>();
  const keyOf = ({ seq }: Message, runId: string | undefined): string => {
    if (runId === undefined || begun.has(runId)) return `m${seq}`;
    begun.add(runId);
    return keyOfRun(runId);
  };
  if (history?.compacted_summary) turns.push({ key: 'summary', summary: history.compacted_summary, parts: [] });
  for (const message of history?.messages ?? []) {
    const role = message.role.toLowerCase();
    const runId = message.run_id ?? undefined;
    const run = runId === undefined ? undefined : runs.get(runId);
    const ofRun = { ...(runId === undefined ? {} : { runId }), ...(run ? { run } : {}) };
    const last = turns.at(-1);
    if (role === 'user') turns.push({ key: keyOf(message, runId), question: questionOf(message), parts: [], lastSeq: message.seq, ...ofRun });
    else if (role === 'system') {
      // How a run ended is told by its turn.
      if (!run) turns.push({ key: `m${message.seq}`, note: message.content, parts: [], lastSeq: message.seq });
      else if (last?.run?.run_id === run.run_id) turns[turns.length - 1] = { ...last, lastSeq: message.seq };
    } else if (last && last.note === undefined && last.summary === undefined && (last.run?.run_id === run?.run_id || !run))
      turns[turns.length - 1] = { ...last, parts: [...last.parts, ...partsOf(message)], lastSeq: message.seq };
    else turns.push({ key: keyOf(message, runId), parts: partsOf(message), lastSeq: message.seq, ...ofRun });
  }
  return [...turns, ...waitingTurns(sessionRuns, begun)];
};

/** What was accepted and has not begun, in the order in which it will. */
const waitingTurns = (runs: readonly SessionRun[], begun: ReadonlySet<string>): readonly Turn[] =>
  runs.flatMap((run) => {
    if (!run.message || begun.has(run.run_id)) return [];
    const { content, attachments } = run.message;
    return [{ key: keyOfRun(run.run_id), question: { text: content, images: [], attachments }, parts: [], runId: run.run_id, run }];
  });

const liveTurn = (live: LiveRun): Turn => ({
  key: live.runId === undefined ? live.id : keyOfRun(live.runId),
  parts: live.parts,
  live,
  ...(live.command === undefined ? {} : { beside: { command: live.command } }),
  ...(live.question ? { question: { text: live.question.text, images: [], attachments: live.question.attachments } } : {}),
});

/** What is followed takes the place of what is kept of the same run, but for what was asked. */
export const withLive = (kept: readonly Turn[], lives: readonly LiveRun[]): readonly Turn[] => {
  if (lives.length === 0) return kept;
  const placed = new Set<string>();
  // Sent from here, and not named yet: it is shown once.
  const unnamed = lives.flatMap(({ runId, question }) => (runId === undefined && question ? [question.text] : []));
  const isSentHere = ({ run, question }: Turn): boolean => run?.message !== undefined && unnamed.includes(question?.text ?? '');
  const shown = kept
    .filter((turn) => !isSentHere(turn))
    .map((turn) => {
      const live = lives.find(({ runId }) => runId !== undefined && runId === turn.runId);
      if (!live) return turn;
      placed.add(live.id);
      return { ...turn, parts: live.parts, live };
    });
  return [...shown, ...lives.filter(({ id }) => !placed.has(id)).map(liveTurn)];
};

const besideTurn = ({ id, question, parts, command }: Beside): Turn => ({
  key: id,
  question: { text: question.text, images: [], attachments: question.attachments },
  parts,
  beside: command === undefined ? {} : { command },
});

/** Each behind the entry that was the last one when it was asked. */
export const withBesides = (kept: readonly Turn[], besides: readonly Beside[]): readonly Turn[] => {
  if (besides.length === 0) return kept;
  const turns = [...kept];
  for (const beside of besides) {
    const next = turns.findIndex(({ question, beside: other }) => other === undefined && question?.seq !== undefined && question.seq > beside.afterSeq);
    turns.splice(next === -1 ? turns.length : next, 0, besideTurn(beside));
  }
  return turns;
};

/** A turn of its own behind the last one, where nothing was said yet in this version. */
const NOTHING_YET = { key: 'version', parts: [] };

/** Each parting stands at the turn that begins behind it. */
export const withPartings = (turns: readonly Turn[], partings: readonly Parting[]): readonly Turn[] => {
  if (partings.length === 0) return turns;
  const shown = [...turns];
  for (const parting of partings) {
    const at = shown.findIndex(({ question, beside, live }) => beside === undefined && question !== undefined && (question.seq === undefined ? live !== undefined : question.seq > parting.through));
    const turn = shown[at];
    if (turn) shown[at] = { ...turn, parting };
    else shown.push({ ...NOTHING_YET, parting });
  }
  return shown;
};

/** The text of an answer, without what was thought and what its tools did. */
export const textOf = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => (part.kind === 'text' ? part.text : []))
    .join('\n\n')
    .trim();

const MAX_DRAWN = 30;
/** So much text a browser lays out with ease. What is longer than that is drawn nevertheless when it is the last. */
const MAX_DRAWN_CHARS = 60_000;

const charsOf = ({ question, parts, summary = '' }: Turn): number =>
  (question?.text.length ?? 0) + summary.length + parts.reduce((sum, part) => sum + (part.kind === 'tool' ? (part.call.result?.length ?? 0) : part.text.length), 0);

/** How many of the newest turns are drawn before somebody looks for earlier ones: at least one. */
export const newestDrawn = (turns: readonly Turn[]): number => {
  let chars = 0;
  for (let count = 0; count < Math.min(turns.length, MAX_DRAWN); count += 1) {
    const turn = turns[turns.length - 1 - count];
    chars += turn ? charsOf(turn) : 0;
    if (count > 0 && chars > MAX_DRAWN_CHARS) return count;
  }
  return Math.min(turns.length, MAX_DRAWN);
};
