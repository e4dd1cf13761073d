import { Embedder } from '@svc/ext-memory/contract';
import { defineExtension } from '@svc/api';
import { createEmbedder } from './embedder.js';

export default defineExtension({
  activate(ctx) {
    ctx.services.provide(Embedder, createEmbedder(ctx.files.assets));
  },
});
