/** How what is visible of an extension is called: operations, audit marks, timers. */
/// <reference types="mocha" />
import { expect } from 'chai';
import type { TestKernel } from './test-kernel.js';

/** Begins with a word of the list, in camelCase: `listAgents`. */
const OPERATION = /^([a-z]+)([A-Z][a-z0-9]*)+$/;
/** What it was done to, then what was done: `agent_spawned`. */
const AUDIT_MARK = /^[a-z]+(_[a-z]+)+$/;
const VERBS = new Set(
  (
    'abort accept activate add allow answer apply approve archive ask assign attach authorize block branch browse bulk call cancel chat check choose claim clear clone close compact complete configure confirm connect copy count create deactivate delete deny ' +
    'detach disable discover dismiss download drop edit enable end estimate evaluate exchange execute export fetch find finish follow forget generate get grant handle hide import inspect install instantiate invite ' +
    'invoke join kill leave link lint list lock login logout mark merge move open pair patch pause pin ping plan poll post preview prewarm probe promote prune publish push put query quit read receive recover redeem ' +
    'reconnect refresh register reject release reload remove rename render reorder replace replay reply report request reset resolve restart restore resume retry revoke rollback rotate route run save scan schedule search ' +
    'see send set share shut sign skip snooze spawn start stop store stream submit subscribe suggest suspend switch sync tail tell test title toggle train transcribe transfer translate trigger unblock undo ' +
    'uninstall unlink unlock unpin unregister unsubscribe update upgrade upload use validate verify view vote wait wake watch write'
  ).split(' '),
);

export function nameClaims(id: string, boot: () => Promise<TestKernel>): void {
  it('calls its operations in camelCase with the verb first, and its audit marks in lower snake case', async () => {
    const { routes, sockets } = (await boot()).daemon.parts.http;
    const own = <T>(rows: ReadonlyArray<{ owner: { id: string }; value: T }>): T[] => rows.filter((row) => row.owner.id === id).map((row) => row.value);
    for (const { id: name } of [...own(routes.active()), ...own(sockets.active())]) {
      expect(name).to.match(OPERATION);
      const verb = OPERATION.exec(name)?.[1] ?? '';
      expect(VERBS.has(verb), `"${verb}" of ${name} is no verb that is listed in contract-suite-names.ts`).to.equal(true);
    }
    for (const { audit } of own(routes.active())) if (audit !== undefined) expect(audit).to.match(AUDIT_MARK);
  });

  it('has the timers that contributions.json declares, by their names', async () => {
    const kernel = await boot();
    const declared = kernel.daemon.installed.get(id)?.contributions.timers ?? [];
    const shown = kernel.daemon.kernel.extensions().find((one) => one.id === id)?.contributes.timer ?? [];
    // One that fires once may have fired.
    for (const { name, everyMs } of declared) if (everyMs !== undefined) expect(shown).to.include(`${name} every ${everyMs} ms`);
    for (const label of shown.filter((one) => one.includes(' every '))) expect(declared.map(({ name, everyMs }) => `${name} every ${everyMs} ms`)).to.include(label);
  });
}
