/**
 * Switching an extension: what else it touches is shown before, and what cannot be taken back on this page is said.
 * A change that touches nothing else and takes nothing away is made at once.
 */
import { confirmed, daemon, Icon, notify, type OutputOf } from '@svc/kit';
import type { Extension } from './state.js';
import { t } from './words.js';

export type Action = 'enable' | 'disable' | 'reload' | 'reset';
type Plan = OutputOf<'planExtensionChange'>;

const CALLS = { enable: 'enableExtension', disable: 'disableExtension', reload: 'reloadExtension', reset: 'resetExtension' } as const;
const DONE = { enable: 'enabled', disable: 'disabled', reload: 'reloaded', reset: 'was_reset' } as const;
const PAGE_ROUTE = 'GET /';
const SWITCH_ROUTE = 'POST /api/extensions/{name}/enable';

/** What goes for the person who looks at this page. */
interface Loss {
  readonly page: string | undefined;
  readonly hasSwitches: boolean;
  readonly panels: readonly string[];
}

const brings = (extension: Extension | undefined, route: string): boolean => extension?.contributes.route?.includes(route) ?? false;

const lossOf = (stopping: readonly string[], all: readonly Extension[], titles: ReadonlyArray<{ extension: string; title: string }>): Loss => {
  const gone = all.filter(({ id }) => stopping.includes(id));
  return {
    page: gone.find((one) => brings(one, PAGE_ROUTE))?.id,
    hasSwitches: gone.some((one) => brings(one, SWITCH_ROUTE)),
    panels: titles.filter(({ extension }) => stopping.includes(extension)).map(({ title }) => title),
  };
};

const Names = ({ title, names }: { title: string; names: readonly string[] }) =>
  names.length === 0 ? null : (
    <div>
      <p>{title}:</p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );

const Care = ({ title, children, back }: { title: string; children: string; back: string }) => (
  <div class="care" role="note">
    <Icon name="triangle-alert" />
    <div class="grow">
      <h3>{title}</h3>
      <p>{children}</p>
      <code>{back}</code>
    </div>
  </div>
);

const Consequences = ({ plan, loss }: { plan: Plan; loss: Loss }) => {
  const others = (names: readonly string[]): readonly string[] => names.filter((name) => name !== plan.id);
  const atMachine = `svc ext enable ${plan.id}`;
  return (
    <>
      <p>{t(`means_${plan.action}`)}</p>
      <Names title={t('starts')} names={others(plan.starts)} />
      <Names title={t('stops')} names={others(plan.stops)} />
      <Names title={t('degrades')} names={others(plan.degrades)} />
      <Names title={t('panels_go')} names={loss.panels} />
      {loss.page !== undefined && (
        <Care title={t('page_goes_title')} back={atMachine}>
          {t('page_goes', { name: plan.id })}
        </Care>
      )}
      {loss.hasSwitches && (
        <Care title={t('panel_goes_title')} back={atMachine}>
          {t('panel_goes')}
        </Care>
      )}
      {plan.warning !== null && !loss.hasSwitches && (
        <div class="care" role="note">
          <Icon name="triangle-alert" />
          <div class="grow">
            <p>{plan.warning}</p>
            {plan.back !== null && (
              <p class="muted">
                {t('way_back')}: {plan.back}
              </p>
            )}
          </div>
        </div>
      )}
    </>
  );
};

const touchesOthers = ({ id, starts, stops, degrades, warning }: Plan): boolean => warning !== null || [...starts, ...stops, ...degrades].some((name) => name !== id);

/** False when the person thought better of it. */
export const change = async (action: Action, name: string, all: readonly Extension[], panels: ReadonlyArray<{ extension: string; title: string }>): Promise<boolean> => {
  const plan = await daemon.call('planExtensionChange', { name, body: { action } });
  const goesOff = action === 'disable' || (action === 'reset' && plan.stops.length > 0);
  const loss = lossOf(goesOff ? [name, ...plan.stops] : [], all, panels);
  const mayNotBeUndone = loss.page !== undefined || loss.hasSwitches || plan.warning !== null;
  if (action === 'disable' || touchesOthers(plan)) {
    const question = { title: t(`ask_${action}`, { name }), text: <Consequences plan={plan} loss={loss} />, action: t(action), isDangerous: goesOff || mayNotBeUndone };
    if (!(await confirmed(question))) return false;
  }
  await daemon.call(CALLS[action], { name, confirm: true });
  notify(t(DONE[action], { name }));
  return true;
};
