/**
 * What switching something off shuts for everybody, and how a person gets back in.
 * Validated from manifests and what the build recorded, so it is the same with the daemon stopped.
 */
import type { ExtensionPlan } from '@svc/api';
import type { Installed } from '@svc/core';

/** The call by which areas are switched over the API. */
const SWITCH_ROUTE = 'POST /api/extensions/{name}/enable';

export interface Surroundings {
  readonly installed: readonly Installed[];
  /** Areas without which nothing but public routes may answer. */
  readonly required: readonly string[];
}

export const canAuthenticate = (one: Installed): boolean => one.manifest.hooks?.some((hook) => hook.name === 'http.authenticate') ?? false;
export const canSwitch = (one: Installed): boolean => one.contributions.routes.includes(SWITCH_ROUTE);

/** The plan with what it shuts in `warning` and the way back in `back`. */
export const withConsequences = (plan: ExtensionPlan, { installed, required }: Surroundings): ExtensionPlan => {
  if (plan.back === null) return plan;
  // What is off by now is named too: to choose it off keeps it so.
  const stopped = new Set([plan.id, ...plan.stops]);
  const those = (which: (one: Installed) => boolean): string[] => installed.filter((one) => stopped.has(one.id) && which(one)).map((one) => one.id);
  const shutting = those((one) => required.includes(one.id));
  const authenticators = those(canAuthenticate);
  const switchers = those(canSwitch);
  const warnings = [
    ...(authenticators.length > 0 ? [`Without ${list(authenticators)} nobody can say who they are: every route but the public ones answers 503, to the owner too.`] : []),
    ...(shutting.length > 0 && authenticators.length === 0 ? [`${list(shutting)} is required for security: without it every route but the public ones answers 503.`] : []),
    ...(switchers.length > 0 ? [`Without ${list(switchers)} no area can be switched over the API: /api/extensions answers 404.`] : []),
  ];
  if (warnings.length === 0) return plan;
  const isOverApi = authenticators.length === 0 && switchers.length === 0;
  const local = `svc ext enable ${plan.id}`;
  const back = isOverApi
    ? `${local}, or POST /api/extensions/${plan.id}/enable with the key of an owner or admin: that call is still answered.`
    : `${local}, on this machine and as the user who runs the daemon; it works while the daemon runs and while it is stopped. The API cannot do it.`;
  return { ...plan, warning: warnings.join(' '), back };
};

const list = (ids: readonly string[]): string => ids.join(' and ');
