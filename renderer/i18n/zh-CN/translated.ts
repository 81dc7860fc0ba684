/** A catalog with every sentence of the English one. Chinese has one plural form, `_other`. */
export type Translated<English> = {
  readonly [Key in keyof English as Key extends `${string}_one` ? never : Key]: string;
};
