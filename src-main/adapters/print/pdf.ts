/** Printing a document as a PDF; a host may bring its own printer. */
import { placesInPdf, stablePdf } from '../../parsers/report/pdf'

export interface PrintOptions {
  /** Only for locating headings: without tags and outline, which take half of the time. */
  draft?: boolean
}

/** Prints an HTML document without scripts as a PDF, tagged and with an outline unless it is a draft. */
export type PdfPrinter = (html: string, options?: PrintOptions) => Promise<Uint8Array>

export { placesInPdf, stablePdf }
