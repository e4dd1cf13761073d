import { definePanel, PanelHead } from '@svc/kit';

export const panel = definePanel({ view: () => <PanelHead title="…" /> });
