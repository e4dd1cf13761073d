/**
 * The turns of a conversation. However many there are and however long, only the last ones are in the document, and earlier
 * ones when somebody looks for them. It stays at its end while an answer grows, unless somebody scrolled away from there.
 */
import { Button, type ComponentChildren, Icon, useEffect, useLayoutEffect, useRef, useState } from '@svc/kit';
import { TurnView, type TurnActions } from './turn-view.js';
import { newestDrawn, type Turn } from './turns.js';
import { t } from './words.js';

const MORE = 20;
/** So near to the end counts as being there. */
const NEAR_PX = 80;

export const TurnList = ({ turns, actions, children }: { turns: readonly Turn[]; actions: TurnActions; children?: ComponentChildren }) => {
  const frame = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const heightBefore = useRef<number>(undefined);
  const [isAway, setAway] = useState(false);
  /** Of earlier ones, how many somebody looked for. */
  const [earlier, setEarlier] = useState(0);
  const hiddenBefore = useRef(turns.length);
  const longEnough = Math.max(0, turns.length - newestDrawn(turns) - earlier);
  // Nothing is taken away from above what somebody reads.
  const hidden = isAtEnd.current ? longEnough : Math.min(hiddenBefore.current, longEnough);
  hiddenBefore.current = hidden;

  // Before anything was said there is a beginning to read, and no newest message.
  const hasTurns = useRef(false);
  hasTurns.current = turns.length > 0;
  const toEnd = (): void => {
    const element = frame.current;
    if (element && hasTurns.current) element.scrollTop = element.scrollHeight;
  };
  const onScroll = (): void => {
    const element = frame.current;
    if (!element) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    setAway(!isAtEnd.current);
    if (element.scrollTop < element.clientHeight && hidden > 0) more();
  };
  const more = (): void => {
    heightBefore.current ??= frame.current?.scrollHeight;
    setEarlier(turns.length - newestDrawn(turns) - hidden + MORE);
  };

  // What is added above must not move what is looked at.
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || heightBefore.current === undefined) return;
    const grown = element.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
    element.scrollTop += grown;
  }, [earlier]);
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
  }, [turns]);
  // Pictures and colours come later, and windows change.
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(() => isAtEnd.current && toEnd());
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    return () => watch.disconnect();
  }, []);
  // What was just said is looked at, wherever one was.
  const lastKey = turns.at(-1)?.live?.question ? turns.at(-1)?.key : undefined;
  useLayoutEffect(() => {
    if (lastKey === undefined) return;
    isAtEnd.current = true;
    setEarlier(0);
    toEnd();
  }, [lastKey]);

  return (
    <div class="turns-frame">
      <div class="turns" ref={frame} onScroll={onScroll} tabIndex={0} role="log" aria-label={t('messages')} aria-live="off">
        <div class="turns-inside">
          {hidden > 0 && (
            <Button small kind="quiet" icon="history" onPress={more}>
              {t('earlier')}
            </Button>
          )}
          {turns.slice(hidden).map((turn) => (
            <TurnView key={turn.key} turn={turn} actions={actions} />
          ))}
          {children}
        </div>
      </div>
      {isAway && hasTurns.current && (
        <button
          type="button"
          class="to-newest"
          onClick={() => {
            isAtEnd.current = true;
            setAway(false);
            toEnd();
          }}
        >
          <Icon name="arrow-down" size={16} />
          {t('newest')}
        </button>
      )}
    </div>
  );
};
