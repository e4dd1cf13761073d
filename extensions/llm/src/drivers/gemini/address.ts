/** Where a model of Gemini is, and which header carries the key. */
import type { DriverTarget } from '../../contract.js';
import { ModelFailure } from '../../call/model-failure.js';

export const KEY_HEADER = 'x-goog-api-key';

/** `models/` stands before plain names; others, such as `tunedModels/x`, bring their own. */
export const resourceOf = (model: string): string => (model.includes('/') ? model : `models/${model}`);

/** A base URL without a version is of this one. */
export const modelUrl = ({ baseUrl, model }: Pick<DriverTarget, 'baseUrl' | 'model'>): string => {
  const base = /\/v\d+\w*$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`;
  const path = resourceOf(model).split('/');
  if (path.some((step) => /^\.{0,2}$/.test(step))) throw new ModelFailure('model_not_found', `${model} is not a model name`);
  return `${base}/${path.map(encodeURIComponent).join('/')}`;
};
