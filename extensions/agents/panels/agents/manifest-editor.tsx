/** The text of a manifest, validated by the daemon while it is typed: each slip by its line, before anything is saved. */
import { Button, daemon, Failure, Icon, may, type OutputOf, TextArea, useEffect, useRef, useState } from '@svc/kit';
import { e } from './edit-words.js';

export type Checked = OutputOf<'checkAgentManifest'>;

const PAUSE_MS = 400;

export interface CheckState {
  /** Of this very text; undefined while it is asked for. */
  readonly answer: Checked | undefined;
  readonly error: unknown;
  readonly again: () => void;
}

/** Asks when the typing pauses. */
export const useCheck = (text: string, agentId: string | undefined, isWanted: boolean): CheckState => {
  const [state, setState] = useState<{ text?: string; answer?: Checked; error?: unknown }>({});
  const [turn, setTurn] = useState(0);
  const isAsked = isWanted && may('agents.write');
  useEffect(() => {
    if (!isAsked) return;
    const own = new AbortController();
    const timer = setTimeout(() => {
      daemon.call('checkAgentManifest', { body: { manifest_toml: text, ...(agentId === undefined ? {} : { agent_id: agentId }) } }, { signal: own.signal }).then(
        (answer) => setState({ text, answer }),
        (error: unknown) => !own.signal.aborted && setState({ text, error }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [text, agentId, isAsked, turn]);
  const now = state.text === text ? state : {};
  return { answer: now.answer, error: now.error, again: () => setTurn((before) => before + 1) };
};

/** Puts the cursor on a line, and that into sight. */
const showLine = (area: HTMLTextAreaElement, line: number): void => {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, (area.scrollHeight / lines.length) * (line - 3));
};

const Findings = ({ answer, onLine }: { answer: Checked; onLine: (line: number) => void }) => (
  <>
    {answer.ok ? (
      <p class="row">
        <Icon name="circle-check" size={16} />
        {e('check_good')}
      </p>
    ) : (
      <>
        <p class="row">
          <Icon name="circle-x" size={16} />
          <strong>{e('check_bad', { count: answer.problems.length })}</strong>
        </p>
        <ul class="findings">
          {answer.problems.map(({ line, message, expected }, index) => (
            <li key={index}>
              {line !== null && (
                <Button small onPress={() => onLine(line)}>
                  {e('at_line', { line })}
                </Button>
              )}
              <span>{message}</span>
              {expected !== '' && line !== null && <span class="muted small-text">{e('expected', { expected })}</span>}
            </li>
          ))}
        </ul>
      </>
    )}
    {answer.warnings.length > 0 && (
      <>
        <p>{e('check_warns')}</p>
        <ul class="findings muted">
          {answer.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      </>
    )}
  </>
);

export const ManifestEditor = ({
  value,
  onValue,
  hint,
  check,
  isWanted,
  disabled,
}: {
  value: string;
  onValue: (text: string) => void;
  hint: string;
  check: CheckState;
  isWanted: boolean;
  disabled: boolean;
}) => {
  const frame = useRef<HTMLDivElement>(null);
  const onLine = (line: number): void => {
    const area = frame.current?.querySelector('textarea');
    if (area) showLine(area, line);
  };
  return (
    <div class="manifest-text" ref={frame}>
      <TextArea isCode language="toml" rows={20} label={e('text_label')} hint={hint} value={value} onValue={onValue} readOnly={disabled} />
      {isWanted && !disabled && (
        <div class="stack manifest-says" role="status">
          {check.error !== undefined && <Failure error={check.error} onRetry={check.again} />}
          {check.answer ? <Findings answer={check.answer} onLine={onLine} /> : check.error === undefined && <p class="muted">{e('checking')}</p>}
        </div>
      )}
    </div>
  );
};
