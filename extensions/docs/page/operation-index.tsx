/** The operations by area, at the side of the page: a search, and one area open. */
import { address, addressOf, Button, Empty, SearchField, useContext, useEffect, useRef } from '@svc/kit';
import { t } from './docs-words.js';
import { type Area, found } from './openapi.js';
import { Method } from './method.js';
import { ApiContext } from './prose.js';

const AreaOperations = ({ area, isOpen }: { area: Area; isOpen: boolean }) => {
  const { panel, path } = address.value;
  const here = panel === area.name ? path[0] : undefined;
  return (
    <li>
      <a class="index-area" href={addressOf(area.name)} aria-current={panel === area.name && here === undefined ? 'page' : undefined}>
        <span class="grow">{area.name}</span>
        <span class="muted small-text numbers">{area.operations.length}</span>
      </a>
      {isOpen && (
        <ul class="index-operations" aria-label={area.name}>
          {area.operations.map(({ id, method, summary }) => (
            <li key={id}>
              <a href={addressOf(area.name, [id])} aria-current={here === id ? 'page' : undefined}>
                <Method method={method} />
                <span class="grow">{summary}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
};

export const OperationIndex = ({ isOpen, typed, onTyped }: { isOpen: boolean; typed: string; onTyped: (text: string) => void }) => {
  const api = useContext(ApiContext);
  const areas = found(api, typed);
  const list = useRef<HTMLElement>(null);
  const { panel, path } = address.value;
  useEffect(() => list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [panel, path[0]]);
  return (
    <nav class={isOpen ? 'docs-index open' : 'docs-index'} id="index" aria-label={t('index')} ref={list}>
      <div class="index-search">
        <SearchField label={t('search')} value={typed} onValue={onTyped} />
      </div>
      {areas.length === 0 ? (
        <Empty icon="search" title={t('nothing_found')}>
          <Button onPress={() => onTyped('')}>{t('clear_search')}</Button>
        </Empty>
      ) : (
        <ul class="index-areas">
          {areas.map((area) => (
            <AreaOperations key={area.name} area={area} isOpen={typed.trim() !== '' || panel === area.name} />
          ))}
        </ul>
      )}
    </nav>
  );
};
