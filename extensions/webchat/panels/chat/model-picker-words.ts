/** What the choice of a model says. Loaded with it. */
import { words } from '@svc/kit';

export const dialogWords = words({
  en: {
    no_models: 'No models available yet.',
    model_search: 'Search models',
    model_for: 'Change the model for',
    model_for_conversation: 'This conversation',
    model_for_agent: 'The agent {name}',
    model_present: 'present model',
    model_of_agent: 'Use the model of the agent',
    model_default: 'Use the default model',
  },
  zh: {
    no_models: '还没有可用的模型。',
    model_search: '搜索模型',
    model_for: '更改模型的范围',
    model_for_conversation: '此对话',
    model_for_agent: '智能体 {name}',
    model_present: '当前模型',
    model_of_agent: '使用智能体的模型',
    model_default: '使用默认模型',
  },
});
