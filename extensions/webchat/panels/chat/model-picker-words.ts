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
    price: '{read} in, {written} out per million tokens',
    price_free: 'free',
    price_unknown: 'price unknown',
    window: '{tokens} tokens',
    can_tools: 'tools',
    can_see: 'images',
    can_think: 'thinking',
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
    price: '每百万令牌：输入 {read}，输出 {written}',
    price_free: '免费',
    price_unknown: '价格未知',
    window: '{tokens} 令牌',
    can_tools: '工具',
    can_see: '图片',
    can_think: '思考',
  },
});
