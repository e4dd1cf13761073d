/** One line with all that it tells. */
import { addressOf, Button, CopyButton, dateTime, Facts, IconButton, setQuery, useEffect, useRef } from '@svc/kit';
import type { Kept } from './lines.js';
import { t } from './words.js';

const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

export const Entry = ({ kept: { line }, id, onClose, hasAgents }: { kept: Kept; id: string; onClose: () => void; hasAgents: boolean }) => {
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    frame.current?.scrollTo({ top: 0 });
  }, [line]);
  const requestId = line.request_id;
  return (
    <section class="log-entry" id={id} aria-label={t('entry')} ref={frame} tabIndex={-1}>
      <header class="row wrap">
        <h2 class="grow">
          <bdi>{line.target}</bdi> <span class={`log-level ${line.level}`}>{line.level}</span>
        </h2>
        <CopyButton label={t('copy_entry')} text={() => JSON.stringify(line, null, 2)} />
        <IconButton small icon="x" label={t('close')} onPress={onClose} />
      </header>
      <p class="log-message">{line.message}</p>
      <Facts
        rows={[
          [t('time'), dateTime(line.timestamp)],
          ...(line.agent_id === null ? [] : [[t('agent'), hasAgents ? <a href={addressOf('agents', [line.agent_id])}>{line.agent_id}</a> : line.agent_id] as const]),
          ...(requestId === null ? [] : [[t('request'), <code key="request">{requestId}</code>] as const]),
          ...Object.entries(line.fields).map(
            ([name, value]) =>
              [
                name,
                <span key={name} class="log-value">
                  {shownValue(value)}
                </span>,
              ] as const,
          ),
        ]}
      />
      <div class="row wrap">
        {requestId !== null && (
          <Button small icon="search" onPress={() => setQuery({ q: requestId, area: undefined, level: undefined })}>
            {t('only_request')}
          </Button>
        )}
        <Button small icon="search" onPress={() => setQuery({ area: line.target })}>
          {t('only_area')}
        </Button>
      </div>
    </section>
  );
};
