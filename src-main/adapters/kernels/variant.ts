/** Edits that add a variant of a rung to a ladder folder. */
export { addVariant } from '../../parsers/kernels/ladder'
export { allowValues } from '../../parsers/kernels/rung-header'
