/** The buttons that change an extension. */
import { Button, may, Menu, needs } from '@svc/kit';
import { type Action, change } from './changing.js';
import type { Extension } from './state.js';
import { t } from './words.js';

export interface Known {
  readonly all: readonly Extension[];
  readonly panels: ReadonlyArray<{ extension: string; title: string }>;
  readonly onChanged: () => void;
}

const PERMISSION = 'extensions.admin';

const doing =
  (name: string, { all, panels, onChanged }: Known) =>
  async (action: Action): Promise<void> => {
    try {
      await change(action, name, all, panels);
    } finally {
      // What failed may have changed as well.
      onChanged();
    }
  };

const isOn = ({ intent, state }: Extension): boolean => intent.enabled || state === 'active';
const canReset = ({ state, intent }: Extension): boolean => state === 'failed' || state === 'quarantined' || intent.decidedBy === 'choice';
const isBroken = ({ state }: Extension): boolean => state === 'failed' || state === 'quarantined';

/** In a list. */
export const RowSwitches = ({ extension, known }: { extension: Extension; known: Known }) => {
  const act = doing(extension.id, known);
  const isAllowed = may(PERMISSION);
  const items = [
    { id: 'reload', label: t('reload'), icon: 'refresh-cw' as const, disabled: !isAllowed || extension.state === 'inactive', onChoose: () => act('reload') },
    ...(canReset(extension) ? [{ id: 'reset', label: isBroken(extension) ? t('reset') : t('forget'), icon: 'rotate-ccw' as const, disabled: !isAllowed, onChoose: () => act('reset') }] : []),
  ];
  return (
    <span class="row extension-switches">
      <Button small icon="power" onPress={() => act(isOn(extension) ? 'disable' : 'enable')} {...needs(PERMISSION)}>
        {isOn(extension) ? t('disable') : t('enable')}
        <span class="off-screen"> {extension.id}</span>
      </Button>
      <Menu label={t('more_of', { name: extension.id })} items={items} />
    </span>
  );
};

/** Of the one that is open. */
export const HeadSwitches = ({ extension, known }: { extension: Extension; known: Known }) => {
  const act = doing(extension.id, known);
  return (
    <>
      {isBroken(extension) && (
        <Button kind="primary" icon="rotate-ccw" onPress={() => act('reset')} {...needs(PERMISSION)}>
          {t('reset')}
        </Button>
      )}
      {extension.state !== 'inactive' && (
        <Button icon="refresh-cw" onPress={() => act('reload')} {...needs(PERMISSION)}>
          {t('reload')}
        </Button>
      )}
      {!isBroken(extension) && canReset(extension) && (
        <Button icon="rotate-ccw" onPress={() => act('reset')} {...needs(PERMISSION)}>
          {t('forget')}
        </Button>
      )}
      <Button icon="power" kind={isOn(extension) ? 'danger' : 'primary'} onPress={() => act(isOn(extension) ? 'disable' : 'enable')} {...needs(PERMISSION)}>
        {isOn(extension) ? t('disable') : t('enable')}
      </Button>
    </>
  );
};
