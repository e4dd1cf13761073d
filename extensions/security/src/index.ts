import { ConfigChanged, defineExtension, ExtensionChanged, SecurityReport } from '@svc/api';
import { createReports } from './report.js';
import { securityRoute } from './routes.js';

export default defineExtension({
  commandWords: [
    {
      word: 'security',
      summary: 'what each protection did when it was just tried',
      usage: 'security',
      order: 39,
      module: 'security',
      synonyms: [{ word: 'security status', means: 'security', runs: true, takesArguments: true }],
    },
  ],
  activate(ctx) {
    const ask = ctx.hooks.use(SecurityReport);
    const reports = createReports({ ask: () => ask.call(undefined), extensions: () => ctx.kernel.extensions(), clock: ctx.clock });
    ctx.events.on(ExtensionChanged, () => reports.forget());
    ctx.events.on(ConfigChanged, () => reports.forget());
    ctx.routes.add(securityRoute(reports));
  },
});
