/** The daemon's own log, as it is written. */
import './logs/logs.css';
import {
  address,
  addressOf,
  Button,
  connection,
  CopyButton,
  daemon,
  definePanel,
  Empty,
  Failure,
  IconButton,
  LinkButton,
  Loading,
  PanelHead,
  setQuery,
  useEffect,
  useId,
  saveFile,
  useLoaded,
  useMemo,
  useOffered,
  useState,
} from '@svc/kit';
import { Entry } from './logs/entry.js';
import { Filters } from './logs/filters.js';
import { asText, type Filter, filtered, type Kept, type Level, LEVELS, levelOf, type Log, MAX_KEPT, useLog } from './logs/lines.js';
import { LineList } from './logs/line-list.js';
import { t } from './logs/words.js';

const download = (lines: readonly Kept[]): void => saveFile(`svc-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.log`, 'text/plain', `${asText(lines)}\n`);

const filterOf = ({ q = '', level, area = '' }: Readonly<Record<string, string>>): Filter => ({ words: q, level: levelOf(level), area });

/** Nobody waits for lines that the settings keep from being written. */
const NoLine = ({ hasLines, level, written, hasSettings }: { hasLines: boolean; level: Level; written: Level | undefined; hasSettings: boolean }) => {
  const isHidden = written !== undefined && LEVELS.indexOf(level) < LEVELS.indexOf(written);
  return (
    <Empty icon="scroll-text" title={hasLines ? t('none_fits') : t('empty')}>
      {isHidden && <p>{t('not_written', { level: written })}</p>}
      <div class="row wrap">
        {hasLines && <Button onPress={() => setQuery({ q: undefined, level: undefined, area: undefined })}>{t('show_all')}</Button>}
        {isHidden && hasSettings && <LinkButton href={addressOf('config', ['log'])}>{t('open_settings')}</LinkButton>}
      </div>
    </Empty>
  );
};

const stateOf = ({ state }: Log, isPaused: boolean): string => (isPaused ? t('paused') : t(state));

const Logs = () => {
  const log = useLog();
  const [paused, setPaused] = useState<{ lines: readonly Kept[]; count: number }>();
  const [isAtEnd, setAtEnd] = useState(true);
  const [open, setOpen] = useState<string>();
  const entryId = useId();
  const isOffered = useOffered();
  const status = useLoaded('log level', (signal) => daemon.call('getStatus', {}, { signal }), ['config']);
  useEffect(() => {
    if (connection.value === 'live' && log.error !== undefined) log.retry();
  }, [connection.value]);

  const { lines, count } = paused ?? log;
  const filter = filterOf(address.value.query);
  const shown = useMemo(() => filtered(lines, filter), [lines, filter.level, filter.area, filter.words]);
  const areas = useMemo(() => [...new Set([...lines.map(({ line }) => line.target), ...(filter.area === '' ? [] : [filter.area])])].sort(), [lines, filter.area]);
  const kept = shown.find(({ key }) => key === open);
  const newLines = log.count - count;
  return (
    <div class="logs">
      <PanelHead
        title={t('title')}
        note={<span role="status">{stateOf(log, paused !== undefined)}</span>}
        actions={
          <>
            <Button icon={paused ? 'play' : 'pause'} pressed={paused !== undefined} onPress={() => setPaused(paused ? undefined : { lines: log.lines, count: log.count })}>
              {paused ? t('resume') : t('pause')}
            </Button>
            <CopyButton label={t('copy')} text={() => asText(shown)} />
            <IconButton small icon="download" label={t('download')} disabled={shown.length === 0} onPress={() => download(shown)} />
          </>
        }
      />
      <Filters filter={filter} areas={areas} />
      {log.error !== undefined && (
        <div class="log-failure">
          <Failure error={log.error} onRetry={log.retry} />
        </div>
      )}
      <div class="log-frame">
        {shown.length > 0 ? (
          <LineList lines={shown} open={kept?.key} onOpen={setOpen} entryId={entryId} isAtEnd={isAtEnd && kept === undefined} onAtEnd={setAtEnd} />
        ) : log.state === 'connecting' ? (
          <div class="log-failure">
            <Loading lines={8} />
          </div>
        ) : (
          <NoLine hasLines={lines.length > 0} level={filter.level} written={status.data?.log_level} hasSettings={isOffered('config')} />
        )}
        {kept && <Entry kept={kept} id={entryId} onClose={() => setOpen(undefined)} hasAgents={isOffered('agents')} />}
      </div>
      <footer class="log-foot">
        <p class="grow muted small-text">
          {t('shown', { shown: shown.length, count: lines.length })}
          {count > MAX_KEPT && ` ${t('left_out', { count: MAX_KEPT })}`}
        </p>
        {(paused !== undefined || !isAtEnd) && (
          <Button
            small
            icon="arrow-down"
            onPress={() => {
              setPaused(undefined);
              setOpen(undefined);
              setAtEnd(true);
            }}
          >
            {newLines > 0 ? t('new_lines', { count: newLines }) : t('to_end')}
          </Button>
        )}
      </footer>
    </div>
  );
};

export const panel = definePanel({ view: Logs });
