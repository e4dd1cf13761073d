import { definePanel } from '@svc/kit';

export const panel = definePanel({ view: () => null });
