/** What models offers: the catalog of providers' models, their windows and prices, and aliases. */

export interface CatalogModel {
  readonly id: string;
  readonly provider: string;
  readonly display_name: string;
  readonly tier: string;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly input_cost_per_1m: number;
  readonly output_cost_per_1m: number;
  readonly supports_tools: boolean;
  readonly supports_vision: boolean;
  readonly supports_streaming: boolean;
  /** What the provider itself calls the model, where that differs from `id`. */
  readonly wire_id?: string;
}

export interface ModelsService {
  list(filter?: { provider?: string; tier?: string }): Promise<CatalogModel[]>;
  /** By id, alias or display name, case-insensitive; within a provider when one is named. */
  find(model: string, provider?: string): Promise<CatalogModel | undefined>;
  alias(name: string): Promise<string | undefined>;
  /** Every alias with the id it stands for. */
  aliases(): Promise<ReadonlyMap<string, string>>;
}

declare module '@svc/api' {
  interface ServiceMap {
    models: ModelsService;
  }
}
